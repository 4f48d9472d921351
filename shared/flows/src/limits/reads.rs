//! What clients read.
//!
//! A large page costs as much as hundreds of small requests, so operations without their own limit
//! count what they read from the table, in units of [`BYTES_PER_READ`]. Less than a unit is not
//! counted. Each process counts in its memory: requests do not wait for a write, and functions that
//! only read do not need the right to write. A request is refused once earlier ones have used up
//! the quota.
//!
//! The owner of an account must be able to read to find an intruder, so reads are counted per
//! session, not per user.

use model::limit::{BYTES_PER_READ, Counter, Rule, Subject};
use model::place::Place;
use wire::id::{ProjectId, SessionId};

use crate::app::App;

/// A client whose reads are counted.
#[derive(Debug)]
pub struct Reader {
    project: ProjectId,
    counters: Vec<Counter>,
}

impl Reader {
    /// A client at this place, with a session if it has one.
    pub fn at(app: &App, project: &ProjectId, place: &Place, session: Option<SessionId>) -> Self {
        let places = [(Rule::ReadAddress, Subject::address(place.ip)), (Rule::ReadNetwork, Subject::network(place.ip))];
        let subjects = session.map(|session| (Rule::Read, Subject::session(session))).into_iter().chain(places);
        let counters = subjects.filter_map(|(rule, subject)| app.settings.limits.counter(rule, &subject, app.clock.now())).collect();
        Self { project: project.clone(), counters }
    }

    /// Fails if the client has used up a quota.
    pub fn check(&self, app: &App) -> Result<(), store::Error> {
        self.counters.iter().try_for_each(|counter| app.memory.room(&self.project, counter)).map_err(store::Error::Limited)
    }

    /// Counts a request that read this many bytes.
    pub fn count(&self, app: &App, bytes: usize) {
        let count = u32::try_from(bytes / BYTES_PER_READ).unwrap_or(u32::MAX);
        if count > 0 {
            self.counters.iter().for_each(|counter| app.memory.spend(&self.project, counter, count));
        }
    }
}
