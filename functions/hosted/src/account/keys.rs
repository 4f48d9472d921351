//! The user's API keys, for programs that act as the user.

use jiff::SignedDuration;
use keys_functions::{user_key_create, user_key_list, user_key_update};
use minijinja::{Value, context};
use serde_json::{Value as Json, json};

use crate::account::list::{items, list, text};
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::visit::Visit;
use crate::visit::call::Call;

/// The numbers of days for which a new key can be valid.
const LIVES: [i64; 3] = [30, 90, 365];

/// `None` if the project has disabled API keys of users.
pub(super) async fn shown(visit: &Visit) -> Option<Value> {
    if !visit.project.config.user_api_keys_enabled {
        return None;
    }
    let reply = visit.call(user_key_list::ROUTE, user_key_list::handle, Call::for_me()).await;
    let now = visit.app.clock.now().as_millisecond();
    let is_valid =
        |key: &&Json| key["manually_revoked_at_millis"].is_null() && key["expires_at_millis"].as_i64().is_none_or(|expires| expires > now);
    let row = |key: &Json| {
        context! {
            id => text(key, "id"),
            name => text(key, "description"),
            end => text(&key["value"], "last_four"),
            since => day(&key["created_at_millis"]),
            used => visit.ago(&key["last_used_at_millis"]),
            until => day(&key["expires_at_millis"]),
            is_public => key["is_public"] == true,
        }
    };
    Some(context! {
        list => list(items(&reply).iter().filter(is_valid), row),
        lives => LIVES,
        typed => visit.form.text("key_name"),
    })
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "create" => create(visit).await,
        "revoke" => {
            let call = Call::with(json!({ "revoked": true })).query("user_id=me".to_owned()).at(&action.id);
            Outcome::of(visit.call(user_key_update::ROUTE, user_key_update::handle, call).await, "keys_revoked")
        }
        _ => Outcome::Nothing,
    }
}

/// Creates a key, and shows it once.
async fn create(visit: &Visit) -> Outcome {
    let mut body = json!({ "user_id": "me", "description": visit.form.text("key_name").trim() });
    let days = visit.form.get("key_days").and_then(|days| days.parse().ok()).filter(|days| LIVES.contains(days));
    if let Some(days) = days {
        let expires = visit.app.clock.now().saturating_add(SignedDuration::from_hours(24 * days));
        body["expires_at_millis"] = json!(expires.map(jiff::Timestamp::as_millisecond).ok());
    }
    let reply = visit.call(user_key_create::ROUTE, user_key_create::handle, Call::with(body)).await;
    if reply.error().is_some() {
        return Outcome::Refusal(reply);
    }
    let values = context! { kind => "key", secrets => [reply.text("value").to_owned()], section => "keys" };
    Outcome::Answer(visit.document("shown_once", values).answer())
}
