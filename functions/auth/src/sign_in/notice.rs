//! The email about a sign-in from a place where the account was not used before, for projects that
//! enable it.
//!
//! The email is written together with the session. The places of the newest sessions that are
//! stored for the user count as known, even of sessions that have ended. No email is sent if no
//! session is stored, as at the first sign-in of an account, or if the place of one of these
//! sessions is unknown. In projects that enable the email, each sign-in costs one more query.

use flows::App;
use flows::email::notice;
use model::place::Place;
use model::project::Project;
use model::user::User;
use store::Write;

/// Number of sessions to compare with, newest first.
const SESSIONS: usize = 50;

/// The writes of emails about this sign-in of `user` from `place`, if any are due.
pub(crate) async fn write(app: &App, project: &Project, user: &User, place: &Place) -> Result<Vec<Write>, store::Error> {
    if user.told().is_empty() || !project.config.new_sign_in_mails {
        return Ok(Vec::new());
    }
    let sessions = app.store.sessions(&project.id, user.id, None, SESSIONS, |_| true).await?.sessions;
    let is_known = sessions.iter().any(|session| session.place.as_ref().is_none_or(|known| known.is_near(place)));
    if sessions.is_empty() || is_known {
        return Ok(Vec::new());
    }
    notice::of_sign_in(app, project, place, user)
}
