//! Email addresses. When an address is added, a link to `email-verification` is emailed to it.

use minijinja::{Value, context};
use serde_json::json;
use users_functions::{contact_channel_create, contact_channel_delete, contact_channel_send_code, contact_channel_update};

use crate::account::list::list;
use crate::account::outcome::{Action, Outcome};
use crate::pages::ways;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

pub(super) fn shown(visit: &Visit) -> Value {
    let channels = visit.visitor.iter().flat_map(|visitor| &visitor.user.channels);
    let all = list(channels, |channel| {
        context! {
            id => channel.id.to_string(),
            name => channel.value.as_str(),
            is_verified => channel.is_verified,
            is_primary => channel.is_primary,
            signs_in => channel.used_for_auth,
        }
    });
    context! { list => all, typed => visit.form.text("email") }
}

pub(super) async fn submit(visit: &mut Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "add" => add(visit).await,
        "send" => Outcome::of(send(visit, &action.id).await, "emails_sent"),
        "make-primary" => update(visit, &action.id, json!({ "is_primary": true }), "emails_primary").await,
        "sign-in-on" => update(visit, &action.id, json!({ "used_for_auth": true }), "emails_sign_in_on").await,
        "sign-in-off" => update(visit, &action.id, json!({ "used_for_auth": false }), "emails_sign_in_off").await,
        "delete" => {
            let call = Call::new().at("me").at(&action.id);
            Outcome::of(visit.call(contact_channel_delete::ROUTE, contact_channel_delete::handle, call).await, "emails_deleted")
        }
        _ => Outcome::Nothing,
    }
}

/// Adds an address and sends the email. If sending is refused, for example until a challenge is
/// solved, the address has already been added. The page therefore shows a form that only sends the
/// email.
async fn add(visit: &mut Visit) -> Outcome {
    let email = visit.form.text("email").trim().to_owned();
    let body = json!({ "user_id": "me", "value": email, "type": "email", "used_for_auth": false });
    let reply = visit.call(contact_channel_create::ROUTE, contact_channel_create::handle, Call::with(body)).await;
    if reply.error().is_some() {
        return Outcome::Refusal(reply);
    }
    let id = reply.text("id").to_owned();
    let sent = send(visit, &id).await;
    if sent.error().is_some() {
        visit.form = visit.form.without(&["email"]).with("action", &format!("emails.send:{id}"));
        visit.read_again().await;
    }
    Outcome::of(sent, "emails_added")
}

async fn send(visit: &Visit, id: &str) -> Reply {
    let body = json!({ "callback_url": visit.place.url("email-verification", &visit.way_back()) });
    let call = Call::with(ways::with_solution(visit, body)).at("me").at(id);
    visit.call(contact_channel_send_code::ROUTE, contact_channel_send_code::handle, call).await
}

async fn update(visit: &Visit, id: &str, body: serde_json::Value, text: &'static str) -> Outcome {
    let call = Call::with(body).at("me").at(id);
    Outcome::of(visit.call(contact_channel_update::ROUTE, contact_channel_update::handle, call).await, text)
}
