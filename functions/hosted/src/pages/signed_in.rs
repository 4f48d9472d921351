//! What every way of signing in ends with.

use model::session::refresh_token;
use secrecy::SecretString;

use crate::answer::Answer;
use crate::pages::second_factor;
use crate::visit::call::Reply;
use crate::visit::way_back::WayBack;
use crate::visit::{SignedIn, Visit};

/// Takes the answer of a sign-in: keeps the session and sends the visitor back to the app, or asks
/// for the second factor. For any other error, the answer is given back.
pub(super) async fn take(visit: &mut Visit, reply: Reply, way: &str) -> Result<Answer, Reply> {
    match reply.error() {
        None => {
            begin(visit, &reply, way);
            Ok(WayBack::of(visit).go(visit).await)
        }
        Some("MULTI_FACTOR_AUTHENTICATION_REQUIRED") => {
            visit.note_way(way);
            Ok(second_factor::ask(visit, &reply))
        }
        Some(_) => Err(reply),
    }
}

/// Makes the session of a successful sign-in the visitor's.
pub(super) fn begin(visit: &mut Visit, reply: &Reply, way: &str) {
    let token = SecretString::from(reply.text("refresh_token").to_owned());
    visit.keep_session(reply.text("refresh_token"));
    if !way.is_empty() {
        visit.note_way(way);
    }
    debug_assert!(refresh_token::session_in(&token).is_some(), "a session that begins now has a token of today");
    visit.signed_in = Some(SignedIn { access_token: reply.text("access_token").to_owned(), refresh_token: token });
}
