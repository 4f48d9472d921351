//! The email about a sign-in from a new place, which is sent in projects that enable it. The email
//! is sent only to verified addresses.
//!
//! The email is written together with the session. Known places are the places of the user's newest
//! stored sessions, including ended sessions. No email is sent if all of these sessions have no
//! place, as at the first sign-in of an account. In projects that enable the email, a sign-in costs
//! one more query if the user has an address to notify.

use flows::App;
use flows::email::notice;
use model::place::Place;
use model::project::Project;
use model::user::User;
use store::Write;

/// The maximum number of sessions whose places are compared, newest first.
const SESSIONS: usize = 50;

/// Like [`write`], but does not email anyone if the sign-in gives the account a new owner, because
/// the earlier sessions belong to the previous owner. `before` is the user before the sign-in.
/// `None` for a new user.
pub(crate) async fn unless_new_owner(
    app: &App,
    project: &Project,
    (before, user): (Option<&User>, &User),
    place: &Place,
) -> Result<Vec<Write>, store::Error> {
    let ends_sessions = before.is_some_and(|before| before.session_epoch != user.session_epoch);
    if ends_sessions { Ok(Vec::new()) } else { write(app, project, user, place).await }
}

/// The writes of the emails about this sign-in of `user` from `place`. Empty if no email is due.
pub(crate) async fn write(app: &App, project: &Project, user: &User, place: &Place) -> Result<Vec<Write>, store::Error> {
    if !user.channels.iter().any(|channel| channel.is_verified) || !project.config.new_sign_in_mails {
        return Ok(Vec::new());
    }
    let sessions = app.store.sessions(&project.id, user.id, None, SESSIONS, |_| true).await?.sessions;
    // Sessions created by a server do not have a place.
    let mut known = sessions.iter().filter_map(|session| session.place.as_ref()).peekable();
    if known.peek().is_none() || known.any(|known| known.is_near(place)) {
        return Ok(Vec::new());
    }
    notice::about_sign_in(app, project, place, user)
}
