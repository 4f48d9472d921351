//! `logout`: signs the visitor out at the request of a client (RP-Initiated Logout 1.0). The
//! end-session endpoint redirects the browser to this page with the client's parameters.
//!
//! Any site can send a browser to this page. The visitor is therefore asked to confirm, unless the
//! request contains an ID token of the session.

use auth_functions::{session_delete, session_delete_current};
use openid_functions::logout_begin;
use serde_json::json;

use crate::answer::Answer;
use crate::pages::authorize::invalid;
use crate::pages::notice::Notice;
use crate::visit::Visit;
use crate::visit::authorization::LOGOUT;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;

/// The parameters of a logout request.
const PARAMETERS: [&str; 5] = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"];

/// The end-session endpoint.
pub(crate) fn begin(visit: &Visit, parameters: &str) -> Answer {
    let parameters = Fields::of_query(parameters).only(&PARAMETERS);
    let mut url = visit.app.settings.own_pages.page(&visit.project.id, LOGOUT);
    url.query_pairs_mut().extend_pairs(parameters.pairs());
    Answer::redirect(url.as_str())
}

pub(super) async fn show(visit: &mut Visit) -> Answer {
    let reply = asked(visit).await;
    if reply.error().is_some() {
        return refused(visit, &reply);
    }
    match visit.visitor_name() {
        Some(name) if reply.body["is_proved"] != true => ask(visit, &reply, &name),
        Some(_) => end(visit, &reply).await,
        None => done(visit, &reply),
    }
}

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    let reply = asked(visit).await;
    if reply.error().is_some() {
        return refused(visit, &reply);
    }
    match visit.form.text("action") {
        "sign-out" => end(visit, &reply).await,
        _ => done(visit, &reply),
    }
}

async fn asked(visit: &Visit) -> Reply {
    let parameters = visit.query.only(&PARAMETERS).query();
    visit.call(logout_begin::ROUTE, logout_begin::handle, Call::with(json!({ "parameters": parameters }))).await
}

fn refused(visit: &Visit, reply: &Reply) -> Answer {
    if reply.error() == Some("AUTHORIZATION_REQUEST_INVALID") { invalid(visit, reply) } else { visit.refusal(reply) }
}

fn ask(visit: &Visit, reply: &Reply, name: &str) -> Answer {
    let text = match reply.body["client_name"].as_str() {
        Some(client) => visit.fill("authorize.sign_out", &[("client", client), ("name", name)]),
        None => visit.fill("sign_out.text", &[("name", name)]),
    };
    Notice::new(visit, visit.text("sign_out.title"))
        .text(text)
        .button("sign-out", visit.text("sign_out.submit"))
        .button("stay", visit.text("authorize.stay"))
        .keeping(visit.query.only(&PARAMETERS))
        .answer()
}

/// Ends the session on the pages and the session of the client.
async fn end(visit: &Visit, reply: &Reply) -> Answer {
    if let Some(session) = reply.body["client_session_id"].as_str() {
        visit.call(session_delete::ROUTE, session_delete::handle, Call::for_me().at(session)).await;
    }
    if visit.visitor.is_some() {
        let ended = visit.call(session_delete_current::ROUTE, session_delete_current::handle, Call::new()).await;
        // If the session has ended in the meantime, the visitor is already signed out.
        if ended.status.is_server_error() || ended.error() == Some("RATE_LIMITED") {
            return visit.refusal(&ended);
        }
    }
    visit.forget_session();
    done(visit, reply)
}

/// Sends the visitor back to the client through a document, because the pages' policy `form-action`
/// does not permit the client's URL.
fn done(visit: &Visit, reply: &Reply) -> Answer {
    match reply.body["redirect_url"].as_str() {
        Some(url) => crate::pages::authorize::onward(visit, url),
        None => Notice::new(visit, visit.text("sign_out.done_title"))
            .text(visit.text("sign_out.done"))
            .link("sign-in", visit.text("sign_in.link"))
            .answer(),
    }
}
