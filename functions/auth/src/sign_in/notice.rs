//! The mail that tells a user of a sign-in from a place that the account was not used at before, for projects that want it.
//!
//! It is written with the session that it tells of. What is known of earlier places are the sessions that the user still has, so the first
//! sign-in of an account tells nothing, and neither does one after signing out everywhere. It costs a query where a project wants it.

use flows::App;
use flows::email::notice;
use model::place::Place;
use model::project::Project;
use model::user::User;
use store::Write;

/// How many sessions are looked at, newest first.
const SESSIONS: usize = 50;

/// The mails about a sign-in of `user` from `place` that happens now, if there have to be any.
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
