//! The recent events of the account, as sentences.

use minijinja::{Value, context};
use serde_json::Value as Json;
use users_functions::me_activity;

use crate::account::list::{items, list, place, text};
use crate::visit::Visit;
use crate::visit::call::Call;

pub(super) async fn shown(visit: &Visit) -> Value {
    let call = Call::new().query("limit=10".to_owned());
    let reply = visit.call(me_activity::ROUTE, me_activity::handle, call).await;
    list(items(&reply), |entry| row(visit, entry))
}

fn row(visit: &Visit, entry: &Json) -> Value {
    let events = entry["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sentences: Vec<String> = events.iter().filter_map(Json::as_str).map(|event| sentence(visit, event)).collect();
    let count = entry["count"].as_u64().filter(|count| *count > 1);
    let actor = visit.fill(&format!("account.activity.by.{}", text(entry, "actor")), &[("project", &visit.project.display_name)]);
    context! {
        text => sentences.join(", "),
        times => count.map(|count| visit.fill("account.activity.times", &[("n", &count.to_string())])),
        by => actor,
        place => place(&entry["place"]),
        at => text(entry, "at").parse().ok().map(|at| visit.ago_at(at)),
    }
}

/// A sentence about an event. If the catalog has no sentence for the event, the name of the event.
fn sentence(visit: &Visit, event: &str) -> String {
    let known = visit.text(&format!("account.events.{event}"));
    if known.is_empty() { event.to_owned() } else { known }
}
