//! `mfa`: completes a sign-in that requires a second factor. The forms contain the code of the
//! attempt, so the page works in any number of tabs.

use auth_functions::mfa_sign_in;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::pages::factor_form::form;
use crate::pages::{passkey, signed_in};
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};
use crate::visit::cookies::Cookie;

pub(super) async fn submit(visit: &mut Visit) -> Answer {
    let (attempt, factors) = (visit.form.text("attempt").to_owned(), visit.form.text("factors").to_owned());
    let body = match visit.form.text("action") {
        "passkey-begin" => return passkey::begin(visit).await,
        "passkey" => {
            let Ok(response) = serde_json::from_str::<Value>(visit.form.text("passkey")) else {
                return form(visit, &attempt, &factors, None);
            };
            json!({ "type": "passkey", "passkey": { "code": visit.form.text("passkey_code"), "authentication_response": response } })
        }
        "recovery-code" => json!({ "type": "recovery-code", "recovery_code": visit.form.text("recovery_code").trim() }),
        _ => {
            let digits: String = visit.form.text("totp").chars().filter(char::is_ascii_digit).collect();
            json!({ "type": "totp", "totp": digits })
        }
    };
    let mut body = body;
    body["code"] = json!(attempt);
    body["remember_device"] = json!(visit.form.get("remember").is_some());
    let reply = visit.call(mfa_sign_in::ROUTE, mfa_sign_in::handle, Call::with(body).anonymous()).await;
    remember(visit, &reply);
    match signed_in::take(visit, reply, "").await {
        Ok(answer) => answer,
        Err(reply) => form(visit, &attempt, &factors, Some(&reply)),
    }
}

/// Stores the token of a device that should be remembered.
fn remember(visit: &Visit, reply: &Reply) {
    let expires = reply.body["device_expires_at_millis"].as_i64().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    if let (Some(token), Some(expires)) = (reply.body["device_token"].as_str(), expires) {
        let life = expires.duration_since(visit.app.clock.now()).max(SignedDuration::ZERO);
        visit.set_cookie(visit.cookies.set(Cookie::Device, token, Some(life)));
    }
}
