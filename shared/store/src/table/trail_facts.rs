//! The facts that a write adds to the trail entry.

use model::metrics::tally::Tally;
use model::session::{Amr, Session};
use model::trail::{Event, Target};
use wire::id::{SessionId, UserId};

#[derive(Debug, Clone, Default)]
pub(crate) struct TrailFacts {
    pub(crate) user: Option<UserId>,
    pub(crate) events: Vec<Event>,
    pub(crate) session: Option<SessionId>,
    pub(crate) method: Vec<Amr>,
    pub(crate) targets: Vec<Target>,
    pub(crate) tally: Tally,
}

impl TrailFacts {
    pub(crate) fn about(&mut self, user: Option<UserId>) {
        self.user = user;
    }

    pub(crate) fn events(&mut self, events: impl IntoIterator<Item = Event>) {
        self.events.extend(events);
    }

    pub(crate) fn method(&mut self, method: &[Amr]) {
        self.method = method.to_vec();
    }

    pub(crate) fn session(&mut self, session: &Session) {
        self.about(Some(session.user_id));
        self.events([if session.is_impersonation { Event::Impersonation } else { Event::SignIn }]);
        self.method(&session.amr);
        self.session = Some(session.id);
    }

    pub(crate) fn tally(&mut self, tally: &Tally) {
        self.tally.merge(tally, 1);
    }

    pub(crate) fn targets(&mut self, targets: impl IntoIterator<Item = Target>) {
        self.targets.extend(targets);
    }
}
