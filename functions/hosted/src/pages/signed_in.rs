//! The last steps of every sign-in.

use auth_functions::oauth_cross_domain;

use crate::answer::Answer;
use crate::pages::{authorize, factor_form};
use crate::visit::Visit;
use crate::visit::authorization::AUTHORIZE;
use crate::visit::call::{Call, Reply};
use crate::visit::way_back::{Next, WayBack};

/// Handles the response to a sign-in. Either stores the session and sends the visitor back to the
/// app, or asks for the second factor. Any other error is returned to the caller.
pub(super) async fn take(visit: &mut Visit, reply: Reply, way: &str) -> Result<Answer, Reply> {
    match reply.error() {
        None => {
            begin(visit, &reply, way);
            Ok(go_back(visit).await)
        }
        Some("MULTI_FACTOR_AUTHENTICATION_REQUIRED") => {
            visit.note_way(way);
            Ok(factor_form::ask(visit, &reply))
        }
        Some(_) => Err(reply),
    }
}

/// Makes the new session of a successful sign-in the visitor's session.
pub(super) fn begin(visit: &mut Visit, reply: &Reply, way: &str) {
    visit.begin_session(reply.text("access_token"), reply.text("refresh_token"));
    if !way.is_empty() {
        visit.note_way(way);
    }
}

/// Sends a visitor who has signed in, or who continues as the same user, back to the app. If there
/// is no way back, shows the account's page.
pub(super) async fn go_back(visit: &Visit) -> Answer {
    let back = WayBack::of(visit);
    let leads_to_client = back.own_page(visit).as_deref() == Some(AUTHORIZE);
    let body = match back.next(visit) {
        Next::Url(url) if leads_to_client => return Answer::redirect(&authorize::after_form(&url)),
        Next::Url(url) => return Answer::redirect(&url),
        Next::Handover(body) => body,
    };
    let call = Call::with(body).with_token();
    let reply = visit.call(oauth_cross_domain::ROUTE, oauth_cross_domain::handle, call).await;
    match reply.error() {
        None => Answer::redirect(reply.text("redirect_url")),
        Some(_) => visit.refusal(&reply),
    }
}
