//! Responds to the script of the pages, which requests a passkey challenge and sends the
//! authenticator's response in a form.

use auth_functions::{passkey_initiate_authentication, passkey_sign_in};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};

/// The options of a challenge, as JSON for the script.
pub(super) async fn begin(visit: &Visit) -> Answer {
    let mut body = json!({});
    if let Some(attempt) = visit.form.get("attempt") {
        body["attempt_code"] = json!(attempt);
    }
    if visit.form.get("mediation") == Some("conditional") {
        body["mediation"] = json!("conditional");
    }
    if let Some(id) = visit.project.config.passkeys.rp_ids.iter().find(|id| visit.place.is_below(id)) {
        body["rp_id"] = json!(id);
    }
    let call = Call::with(body).anonymous();
    let reply = visit.call(passkey_initiate_authentication::ROUTE, passkey_initiate_authentication::handle, call).await;
    Answer::json(reply.status, &reply.body)
}

/// Signs in with the response of an authenticator.
pub(super) async fn sign_in(visit: &Visit) -> Reply {
    let response = serde_json::from_str::<Value>(visit.form.text("passkey")).unwrap_or_default();
    let body = json!({ "code": visit.form.text("passkey_code"), "authentication_response": response });
    visit.call(passkey_sign_in::ROUTE, passkey_sign_in::handle, Call::with(body).anonymous()).await
}
