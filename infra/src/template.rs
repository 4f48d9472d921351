//! The deployment template: a hand-written skeleton (`template.yaml.j2`) with a loop over the functions.
//!
//! It is rendered and checked in, so that deploying needs no Rust and a review sees what a route changes in permissions.

use serde::Serialize;
use shared::http::version::gateway_path;
use shared::http::{Route, TableAction, Verb};

use crate::workers::{FALLBACK, OUTBOX, Worker};
use crate::{Operation, render};

const SOURCE: &str = include_str!("../template.yaml.j2");
/// API Gateway gives up after 30 seconds; an operation that takes ten is broken.
const TIMEOUT: u16 = 10;

/// What the skeleton refers to.
#[derive(Serialize)]
struct Context {
    functions: Vec<Function>,
    outbox: Function,
    indexes: [shared::store::table::Index; 2],
    ttl: &'static str,
}

/// A function in the template.
#[derive(Debug, Serialize)]
struct Function {
    name: String,
    /// Prefix of the logical ids of its resources.
    id: String,
    summary: String,
    memory: u16,
    timeout: u16,
    actions: Vec<String>,
    queries: bool,
    /// Route keys of the HTTP API.
    routes: Vec<RouteKey>,
}

#[derive(Debug, Serialize)]
struct RouteKey {
    id: String,
    key: String,
}

/// The logical id of a function: `auth-password-sign-up` is `AuthPasswordSignUp`.
pub fn logical_id(name: &str) -> String {
    let capitalised = name.split(['-', '_']).filter_map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    });
    capitalised.collect()
}

/// The key of a method of a route in API Gateway.
pub fn route_key(method: &str, route: &Route) -> String {
    format!("{method} {}", gateway_path(route.path))
}

fn actions(table: &[TableAction]) -> Vec<String> {
    let mut names: Vec<String> = table.iter().map(|action| format!("dynamodb:{action:?}")).collect();
    names.sort();
    names.dedup();
    names
}

impl Function {
    fn of_operation(operation: &Operation) -> Self {
        let route = &operation.route;
        let id = logical_id(route.name);
        let mut routes = vec![RouteKey { id: format!("{id}Route"), key: route_key(route.verb.name(), route) }];
        // API Gateway does not give HEAD to a route of GET, although every handler of GET answers it.
        if route.verb == Verb::Get {
            routes.push(RouteKey { id: format!("{id}HeadRoute"), key: route_key("HEAD", route) });
        }
        Self {
            name: route.name.to_owned(),
            id,
            summary: route.summary.to_owned(),
            memory: route.memory,
            timeout: TIMEOUT,
            actions: actions(route.table),
            queries: route.table.contains(&TableAction::Query),
            routes,
        }
    }

    fn of_worker(worker: &Worker, summary: &str, route: Option<&str>) -> Self {
        let id = logical_id(worker.name);
        let routes = route.map(|key| RouteKey { id: format!("{id}Route"), key: key.to_owned() }).into_iter().collect();
        Self {
            name: worker.name.to_owned(),
            id,
            summary: summary.to_owned(),
            memory: worker.memory,
            timeout: worker.timeout,
            actions: actions(worker.table),
            queries: worker.table.contains(&TableAction::Query),
            routes,
        }
    }
}

/// The text of `infra/template.yaml`.
pub fn render(operations: &[Operation]) -> anyhow::Result<String> {
    let mut functions: Vec<Function> = operations.iter().map(Function::of_operation).collect();
    functions.push(Function::of_worker(&FALLBACK, "Answers what no operation matches", Some("$default")));
    let outbox = Function::of_worker(&OUTBOX, "Renders and sends the mails that are due", None);
    let context = Context { functions, outbox, indexes: shared::store::table::INDEXES, ttl: shared::store::table::TTL };
    render::render("template.yaml", SOURCE, context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logical_id_is_the_name_in_capitals() {
        assert_eq!(logical_id("auth-password-sign-up"), "AuthPasswordSignUp");
    }

    #[test]
    fn actions_are_those_of_the_route_and_no_others() {
        assert_eq!(actions(&[TableAction::PutItem, TableAction::GetItem]), ["dynamodb:GetItem", "dynamodb:PutItem"]);
    }
}
