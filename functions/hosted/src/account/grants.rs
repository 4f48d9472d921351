//! The OAuth clients to which the user has given access (grants).

use minijinja::{Value, context};
use openid_functions::{grant_delete, grant_list};

use crate::account::list::{items, list, text};
use crate::account::outcome::{Action, Outcome};
use crate::account::times::day;
use crate::visit::Visit;
use crate::visit::call::Call;

/// `None` if there are no grants.
pub(super) async fn shown(visit: &Visit) -> Option<Value> {
    let reply = visit.call(grant_list::ROUTE, grant_list::handle, Call::new().at("me")).await;
    let grants = items(&reply);
    let row = |grant: &serde_json::Value| {
        let scopes = grant["scopes"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str);
        context! {
            id => text(grant, "id"),
            name => text(grant, "client_name"),
            since => day(&grant["created_at_millis"]),
            scopes => scopes.map(|scope| visit.text(&format!("authorize.scopes.{scope}"))).filter(|text| !text.is_empty()).collect::<Vec<_>>(),
        }
    };
    (!grants.is_empty()).then(|| context! { list => list(grants, row) })
}

pub(super) async fn submit(visit: &Visit, action: &Action) -> Outcome {
    match action.verb.as_str() {
        "remove" => {
            let call = Call::new().at("me").at(&action.id);
            Outcome::of(visit.call(grant_delete::ROUTE, grant_delete::handle, call).await, "grants_removed")
        }
        _ => Outcome::Nothing,
    }
}
