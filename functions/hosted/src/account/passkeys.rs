//! Passkeys. To register a passkey, the script of the pages requests the options, and sends the
//! authenticator's response in a form.

use auth_functions::{passkey_delete, passkey_initiate_registration, passkey_register, passkey_update};
use minijinja::{Value, context};
use model::passkey::view::PasskeyRead;
use serde_json::{Value as Json, json};

use crate::account::list::list;
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::Call;

/// `None` if the project has disabled passkeys.
pub(super) fn shown(visit: &Visit) -> Option<Value> {
    let user = &visit.visitor.as_ref()?.user;
    let row = |passkey: PasskeyRead| {
        context! {
            id => passkey.id.to_string(),
            name => passkey.name,
            used => passkey.last_used_at_millis.and_then(|millis| visit.ago(&json!(millis))),
            since => day(&json!(passkey.created_at_millis)),
        }
    };
    let passkeys = user.passkeys.iter().map(|passkey| PasskeyRead::of(user.id, passkey));
    visit.project.config.passkeys.enabled.then(|| list(passkeys, row))
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "begin" => Outcome::Answer(begin(visit).await),
        "add" => {
            let credential = serde_json::from_str::<Json>(visit.form.text("passkey")).unwrap_or_default();
            let call = Call::with(json!({ "code": visit.form.text("passkey_code"), "credential": credential }));
            Outcome::of(visit.call(passkey_register::ROUTE, passkey_register::handle, call).await, "passkeys_added")
        }
        "rename" => {
            let call = Call::with(json!({ "name": visit.form.text("name").trim() })).at("me").at(&action.id);
            Outcome::of(visit.call(passkey_update::ROUTE, passkey_update::handle, call).await, "renamed")
        }
        "delete" => {
            let call = Call::new().at("me").at(&action.id);
            Outcome::of(visit.call(passkey_delete::ROUTE, passkey_delete::handle, call).await, "passkeys_deleted")
        }
        _ => Outcome::Nothing,
    }
}

/// The options of a registration, or the error, as JSON for the script.
async fn begin(visit: &Visit) -> Answer {
    let rp_id = visit.project.config.passkeys.rp_ids.iter().find(|id| visit.place.is_below(id));
    let body = rp_id.map_or_else(|| json!({}), |id| json!({ "rp_id": id }));
    let call = Call::with(body);
    let reply = visit.call(passkey_initiate_registration::ROUTE, passkey_initiate_registration::handle, call).await;
    Answer::json(reply.status, &reply.body)
}
