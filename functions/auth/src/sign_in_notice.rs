//! The mail that tells a user of a sign-in from a place that the account was not used at before, for projects that want it.
//!
//! It is written with the session that it tells of. What is known of earlier places are the sessions that the user still has, so the first
//! sign-in of an account tells nothing, and neither does one after signing out everywhere. It costs a query where a project wants it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, json};
use shared::App;
use shared::model::id::EmailId;
use shared::model::outbox::{Builtin, Category, CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use shared::model::place::Place;
use shared::model::project::Project;
use shared::model::user::User;
use shared::store::{self, Write, outbox};

/// How many sessions are looked at, newest first.
const SESSIONS: usize = 50;

/// The mail about a sign-in of `user` from `place` that happens now, if there has to be one.
pub(crate) async fn write(app: &App, project: &Project, user: &User, place: &Place) -> Result<Option<Write>, store::Error> {
    if user.primary().is_none() || !project.config.new_sign_in_mails {
        return Ok(None);
    }
    let sessions = app.store.sessions(&project.id, user.id, None, SESSIONS, |_| true).await?.sessions;
    let is_known = sessions.iter().any(|session| session.place.as_ref().is_none_or(|known| known.is_near(place)));
    if sessions.is_empty() || is_known {
        return Ok(None);
    }
    entry(app, project, user, Builtin::NewSignIn, place)
}

/// A mail to the primary address of `user` about what happens now, from `place`; none without one.
pub(crate) fn entry(app: &App, project: &Project, user: &User, mail: Builtin, place: &Place) -> Result<Option<Write>, store::Error> {
    let Some(channel) = user.primary() else { return Ok(None) };
    let now = app.clock.now();
    let new = NewEntry {
        to: Recipients::UserCustomEmails { user_id: user.id, emails: vec![channel.value.clone()] },
        source: Source::builtin(mail),
        variables: Map::from_iter([
            ("time".to_owned(), json!(spelled(now))),
            ("address".to_owned(), json!(place.ip)),
            ("place".to_owned(), json!(place.name())),
        ]),
        category: Category::Transactional,
        is_high_priority: true,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    outbox::create(&project.id, &OutboxEntry::new(EmailId::from(app.entropy.uuid()), new, now)).map(Some)
}

fn spelled(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%-d %B %Y, %H:%M UTC").to_string()
}
