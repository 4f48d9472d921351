//! The deployment template: a root stack with the shared resources, and nested stacks with
//! functions, one for each area and one for the workers.
//!
//! The rendered template is checked in, so that deploying a release does not require Rust, and so
//! that reviews show how a route changes permissions. Areas have separate stacks because
//! CloudFormation allows 500 resources per stack, and the function of an operation takes five or
//! six.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use api::http::version::gateway_path;
use api::http::{Interface, Need, Route, TableAction, Verb};
use model::content::image;
use model::limit::Rule;
use serde::Serialize;
use store::{content, table};

use crate::content_paths::ContentPath;
use crate::needs::{self, HASHING_MEMORY, MEMORY, Names, TIMEOUT};
use crate::operation::Operation;
use crate::render::{self, Source};
use crate::workers::{CHANGES, ENDINGS, FALLBACK, MAIL_REPORTS, OUTBOX, TRAIL, WEBHOOKS, Worker};

const SHARED: Source = ("shared.j2", include_str!("../template/shared.j2"));
const ROOT: Source = ("root.yaml", include_str!("../template/root.yaml.j2"));
const AREA: Source = ("area.yaml", include_str!("../template/area.yaml.j2"));
const WORKERS: Source = ("workers.yaml", include_str!("../template/workers.yaml.j2"));
/// The name of the workers' stack in the root stack.
pub const WORKERS_STACK: &str = "Workers";
/// The method of a route that accepts all methods.
pub const ANY: &str = "ANY";

/// Data for the templates of every stack.
#[derive(Serialize)]
struct Context {
    areas: Vec<Area>,
    /// The paths that a distribution may cache.
    content_paths: Vec<ContentPath>,
    /// The query parameters of the paths that may be cached.
    content_parameters: BTreeSet<String>,
    /// The path pattern of images, which a distribution fetches from the bucket for images.
    image_paths: String,
    /// The partition of the public content, which only the functions that serve it may read.
    content_partition: &'static str,
    /// The keys of the routes that have a separate throttle.
    costly: Vec<String>,
    indexes: [table::Index; 2],
    limits: Vec<LimitParameter>,
    ttl: &'static str,
    memory: u16,
    hashing_memory: u16,
    timeout: u16,
    /// The name of the function that reads the stream, for the alarm that fires when the function
    /// falls behind.
    changes_name: &'static str,
    trail_name: &'static str,
}

/// An area as a resource of the root stack.
#[derive(Serialize)]
struct Area {
    name: String,
    id: String,
    /// The optional parameters of the stack that this area needs.
    needs: Names,
    /// The stack that is deployed before this stack.
    after: String,
}

/// Data for an area's stack: its functions, their needs, and the data for all stacks.
#[derive(Serialize)]
struct AreaContext<'a> {
    #[serde(flatten)]
    all: &'a Context,
    area: &'a str,
    needs: Names,
    functions: &'a [Function],
}

/// Data for the workers' stack.
#[derive(Serialize)]
struct WorkersContext<'a> {
    #[serde(flatten)]
    all: &'a Context,
    needs: Names,
    outbox: Function,
    changes: Function,
    reports: Function,
    endings: Function,
    trail: Function,
    webhooks: Function,
}

/// A parameter of the template that sets a rate limit.
#[derive(Debug, Serialize)]
struct LimitParameter {
    id: String,
    variable: String,
    /// The limit: a number of requests, and a period in seconds.
    rate: String,
    summary: &'static str,
}

impl LimitParameter {
    fn of(rule: Rule) -> Self {
        let id = format!("Limit{}", logical_id(rule.name()));
        Self { id, variable: rule.variable(), rate: rule.standard().to_string(), summary: rule.summary() }
    }
}

/// A function in the template.
#[derive(Debug, Serialize)]
struct Function {
    name: String,
    /// The prefix of the logical ids of the function's resources.
    id: String,
    summary: String,
    needs: Names,
    memory: u16,
    timeout: u16,
    actions: Vec<String>,
    mail: Vec<String>,
    queries: bool,
    /// Patterns of the partition keys that the function may use. If empty, the function may use all
    /// partitions except that of the public content.
    partitions: &'static [&'static str],
    /// The keys of the function's routes in the HTTP API.
    routes: Vec<RouteKey>,
    /// The methods of the path, separated by spaces, if the path has other operations and this
    /// function rejects all other methods.
    allowed: Option<String>,
}

#[derive(Debug, Serialize)]
struct RouteKey {
    id: String,
    key: String,
}

/// The logical id of a function, for example `AuthPasswordSignUp` for `auth-password-sign-up`.
pub fn logical_id(name: &str) -> String {
    let capitalised = name.split(['-', '_']).filter_map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>())
    });
    capitalised.collect()
}

/// The area of a function, which is the first word of its name and the name of its stack.
pub fn area(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The key in API Gateway of a route with the given method.
pub fn route_key(method: &str, route: &Route) -> String {
    format!("{method} {}", gateway_path(route.path))
}

/// The method in the key of an operation's first route. The function of a GET gets requests with
/// any method for which the path has no operation, and rejects all except GET and HEAD. HEAD would
/// otherwise need a separate route, and an API has at most 300 routes by default. Different paths
/// that overlap, such as `/{document}` and `/health`, keep a route for each method, because `ANY`
/// must not decide which of two overlapping routes wins.
fn main_method(route: &Route, all: &[Operation]) -> &'static str {
    let others = all.iter().map(|operation| &operation.route).filter(|other| other.path != route.path);
    let overlaps = |other: &Route| route.matches(other.path) || other.matches(route.path);
    let is_alone = route.verb == Verb::Get && !others.into_iter().any(overlaps);
    if is_alone { ANY } else { route.verb.name() }
}

/// The methods of a path, for the function that rejects all other methods; `None` if the path has
/// only this operation.
fn allowed(route: &Route, all: &[Operation]) -> Option<String> {
    let beside = all.iter().map(|operation| &operation.route).filter(|other| other.path == route.path);
    let verbs: Vec<&str> = beside.map(|other| other.verb.name()).collect();
    (route.verb == Verb::Get && verbs.len() > 1).then(|| verbs.join(" "))
}

fn actions(service: &str, names: impl IntoIterator<Item = impl std::fmt::Debug>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(|action| format!("{service}:{action:?}")).collect();
    names.sort();
    names.dedup();
    names
}

impl Function {
    fn from_operation(operation: &Operation, all: &[Operation]) -> Self {
        let route = &operation.route;
        let (id, method) = (logical_id(route.name), main_method(route, all));
        let mut routes = vec![RouteKey { id: format!("{id}Route"), key: route_key(method, route) }];
        // API Gateway sends no HEAD requests to GET routes, although every GET handler supports
        // them.
        if method == Verb::Get.name() {
            routes.push(RouteKey { id: format!("{id}HeadRoute"), key: route_key("HEAD", route) });
        }
        Self {
            name: route.name.to_owned(),
            id,
            summary: route.summary.to_owned(),
            needs: needs::names_for_route(route),
            memory: needs::memory(route),
            timeout: needs::timeout(route),
            actions: actions("dynamodb", route.actions()),
            mail: Vec::new(),
            // A function that is restricted to some partitions may not query indexes, because
            // patterns for the table's partition keys cannot restrict an index.
            queries: route.table.actions.contains(&TableAction::Query) && route.table.partitions.is_empty(),
            partitions: route.table.partitions,
            routes,
            allowed: allowed(route, all).filter(|_| method == ANY),
        }
    }

    fn from_worker(worker: &Worker, summary: &str, route: Option<&str>) -> Self {
        let id = logical_id(worker.name);
        let routes = route.map(|key| RouteKey { id: format!("{id}Route"), key: key.to_owned() }).into_iter().collect();
        Self {
            name: worker.name.to_owned(),
            id,
            summary: summary.to_owned(),
            needs: needs::names(worker.needs.iter()),
            memory: worker.memory,
            timeout: worker.timeout,
            actions: actions("dynamodb", worker.table),
            mail: actions("ses", worker.mail),
            queries: worker.table.contains(&TableAction::Query),
            partitions: &[],
            routes,
            allowed: None,
        }
    }
}

/// The combined needs of the functions.
fn together(functions: &[Function]) -> Names {
    functions.iter().flat_map(|function| &function.needs).copied().collect()
}

fn areas(operations: &[Operation]) -> BTreeMap<String, Vec<Function>> {
    let mut areas: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    let fallback = Function::from_worker(&FALLBACK, "Answers requests that match no operation", Some("$default"));
    for function in operations.iter().map(|operation| Function::from_operation(operation, operations)).chain([fallback]) {
        areas.entry(area(&function.name).to_owned()).or_default().push(function);
    }
    areas
}

fn context(operations: &[Operation], areas: &BTreeMap<String, Vec<Function>>) -> Context {
    let content =
        operations.iter().filter(|operation| operation.route.interface == Interface::Content && !operation.route.needs.has(Need::Images));
    let content_paths: Vec<ContentPath> = content.flat_map(ContentPath::of).collect();
    // Workers are deployed first, so that the worker that reads the outbox entries of an area has
    // the same version as the area or a newer one.
    let before = std::iter::once(WORKERS_STACK.to_owned()).chain(areas.keys().map(|name| logical_id(name)));
    let costly = operations.iter().map(|operation| &operation.route).filter(|route| route.is_costly());
    Context {
        areas: areas
            .iter()
            .zip(before)
            .map(|((name, functions), after)| Area { name: name.clone(), id: logical_id(name), needs: together(functions), after })
            .collect(),
        content_parameters: content_paths.iter().filter_map(|path| path.parameter.clone()).collect(),
        content_paths,
        image_paths: format!("{}*", image::PATH),
        content_partition: content::PARTITION,
        costly: costly.map(|route| route_key(main_method(route, operations), route)).collect(),
        indexes: table::INDEXES,
        limits: Rule::ALL.into_iter().map(LimitParameter::of).collect(),
        ttl: table::TTL,
        memory: MEMORY,
        hashing_memory: HASHING_MEMORY,
        timeout: TIMEOUT,
        changes_name: CHANGES.name,
        trail_name: TRAIL.name,
    }
}

/// The texts of all templates, with their paths below `infra/`.
pub fn render(operations: &[Operation]) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let areas = areas(operations);
    let context = context(operations, &areas);
    let mut files = BTreeMap::from([(PathBuf::from("template.yaml"), render::render_with(ROOT, &[SHARED], &context)?)]);
    for (name, functions) in &areas {
        let area = AreaContext { all: &context, area: name, needs: together(functions), functions };
        files.insert(format!("stacks/{name}.yaml").into(), render::render_with(AREA, &[SHARED], area)?);
    }
    let outbox = Function::from_worker(&OUTBOX, "Renders and sends the emails that are due", None);
    let changes = Function::from_worker(&CHANGES, "Records the events of webhooks and wakes the workers", None);
    let reports = Function::from_worker(&MAIL_REPORTS, "Records what SES reports about emails", None);
    let endings = Function::from_worker(&ENDINGS, "Finishes deletions that outlast their request", None);
    let trail = Function::from_worker(&TRAIL, "Links new entries into the chains of audit trails", None);
    let webhooks = Function::from_worker(&WEBHOOKS, "Delivers the events of webhooks", None);
    // The stack of the workers gets the secret as a parameter, because some workers need it.
    let needs = needs::names([Need::Secret]);
    let workers = WorkersContext { all: &context, needs, outbox, changes, reports, endings, trail, webhooks };
    files.insert("stacks/workers.yaml".into(), render::render_with(WORKERS, &[SHARED], workers)?);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logical_id_is_the_name_with_each_word_capitalised() {
        assert_eq!(logical_id("auth-password-sign-up"), "AuthPasswordSignUp");
    }

    #[test]
    fn actions_have_the_prefix_of_their_service_and_are_sorted() {
        assert_eq!(actions("dynamodb", [TableAction::PutItem, TableAction::GetItem]), ["dynamodb:GetItem", "dynamodb:PutItem"]);
    }
}
