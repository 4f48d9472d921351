//! The deployment template: a stack with what there is once, and a nested stack for each area with its functions.
//!
//! It is rendered and checked in, so that deploying needs no Rust and a review sees what a route changes in permissions. Areas are
//! stacks of their own because CloudFormation takes 500 resources in one; a function needs five or six.

use std::collections::BTreeMap;
use std::path::PathBuf;

use api::http::version::gateway_path;
use api::http::{HASHING_MEMORY, Interface, MEMORY, Route, TableAction, Verb};
use model::limit::Rule;
use serde::Serialize;
use store::{content, table};

use crate::operation::Operation;
use crate::render::{self, Source};
use crate::workers::{ENDINGS, FALLBACK, MAIL_REPORTS, OUTBOX, TRAIL, Worker};

const SHARED: Source = ("shared.j2", include_str!("../template/shared.j2"));
const ROOT: Source = ("root.yaml", include_str!("../template/root.yaml.j2"));
const AREA: Source = ("area.yaml", include_str!("../template/area.yaml.j2"));
const WORKERS: Source = ("workers.yaml", include_str!("../template/workers.yaml.j2"));
/// The stack of the workers in the root.
pub const WORKERS_STACK: &str = "Workers";
/// API Gateway gives up after 30 seconds; an operation that takes ten is broken.
const TIMEOUT: u16 = 10;

/// What the skeletons refer to.
#[derive(Serialize)]
struct Context {
    areas: Vec<Area>,
    /// Paths that a distribution may cache.
    content_paths: Vec<String>,
    /// The partition of the public content, which only its own functions may use.
    content_partition: &'static str,
    /// Keys of the routes that have a throttle of their own.
    costly: Vec<String>,
    indexes: [table::Index; 2],
    limits: Vec<LimitParameter>,
    ttl: &'static str,
    memory: u16,
    hashing_memory: u16,
    timeout: u16,
    /// Name of the worker that has a schedule.
    outbox_name: &'static str,
}

/// An area as a resource of the root.
#[derive(Serialize)]
struct Area {
    name: String,
    id: String,
    /// What only some of the areas are handed.
    #[serde(flatten)]
    needs: Needs,
    /// The stack that is deployed before it.
    after: String,
}

/// What the functions of an area need besides what all have.
#[derive(Debug, Clone, Copy, Serialize)]
struct Needs {
    uses_secret: bool,
    renews_sessions: bool,
}

impl Needs {
    fn of(functions: &[Function]) -> Self {
        let any = |needs: fn(&Function) -> bool| functions.iter().any(needs);
        Self { uses_secret: any(|function| function.uses_secret), renews_sessions: any(|function| function.renews_sessions) }
    }
}

/// The functions of an area besides what all stacks refer to.
#[derive(Serialize)]
struct AreaContext<'a> {
    #[serde(flatten)]
    all: &'a Context,
    area: &'a str,
    needs: Needs,
    functions: &'a [Function],
}

/// The same of the workers.
#[derive(Serialize)]
struct WorkersContext<'a> {
    #[serde(flatten)]
    all: &'a Context,
    needs: Needs,
    outbox: Function,
    reports: Function,
    endings: Function,
    trail: Function,
}

/// A parameter that sets a limit.
#[derive(Debug, Serialize)]
struct LimitParameter {
    id: String,
    variable: String,
    /// Requests and seconds.
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
    /// Prefix of the logical ids of its resources.
    id: String,
    summary: String,
    hashes: bool,
    uses_secret: bool,
    renews_sessions: bool,
    memory: u16,
    timeout: u16,
    actions: Vec<String>,
    mail: Vec<String>,
    queries: bool,
    /// Patterns of the partition keys that it may use; none: all but the public content's.
    partitions: &'static [&'static str],
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

/// The area of a function: the first word of its name, and the name of its stack.
pub fn area(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// The key of a method of a route in API Gateway.
pub fn route_key(method: &str, route: &Route) -> String {
    format!("{method} {}", gateway_path(route.path))
}

fn actions(service: &str, names: impl IntoIterator<Item = impl std::fmt::Debug>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(|action| format!("{service}:{action:?}")).collect();
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
            hashes: route.hashes(),
            uses_secret: route.uses_secret,
            renews_sessions: route.renews_sessions(),
            memory: route.memory,
            timeout: TIMEOUT,
            actions: actions("dynamodb", route.actions()),
            mail: Vec::new(),
            // A pattern of the table's partitions says nothing of an index's.
            queries: route.table.contains(&TableAction::Query) && route.partitions.is_empty(),
            partitions: route.partitions,
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
            hashes: false,
            uses_secret: worker.uses_secret,
            renews_sessions: false,
            memory: worker.memory,
            timeout: worker.timeout,
            actions: actions("dynamodb", worker.table),
            mail: actions("ses", worker.mail),
            queries: worker.table.contains(&TableAction::Query),
            partitions: &[],
            routes,
        }
    }
}

/// The functions of each area.
fn areas(operations: &[Operation]) -> BTreeMap<String, Vec<Function>> {
    let mut areas: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    let fallback = Function::of_worker(&FALLBACK, "Answers what no operation matches", Some("$default"));
    for function in operations.iter().map(Function::of_operation).chain([fallback]) {
        areas.entry(area(&function.name).to_owned()).or_default().push(function);
    }
    areas
}

fn context(operations: &[Operation], areas: &BTreeMap<String, Vec<Function>>) -> Context {
    let content = operations.iter().filter(|operation| operation.route.interface == Interface::Content);
    // A star stands for slashes too, so it is at the end alone.
    let content_paths = content.map(|operation| match operation.route.path.split_once('{') {
        Some((before, _)) => format!("{before}*"),
        None => operation.route.path.to_owned(),
    });
    // The workers are deployed first: what an area writes into the outbox, a worker of the same version reads.
    let before = std::iter::once(WORKERS_STACK.to_owned()).chain(areas.keys().map(|name| logical_id(name)));
    let costly = operations.iter().map(|operation| &operation.route).filter(|route| route.is_costly());
    Context {
        areas: areas
            .iter()
            .zip(before)
            .map(|((name, functions), after)| Area { name: name.clone(), id: logical_id(name), needs: Needs::of(functions), after })
            .collect(),
        content_paths: content_paths.collect(),
        content_partition: content::PARTITION,
        costly: costly.map(|route| route_key(route.verb.name(), route)).collect(),
        indexes: table::INDEXES,
        limits: Rule::ALL.into_iter().map(LimitParameter::of).collect(),
        ttl: table::TTL,
        memory: MEMORY,
        hashing_memory: HASHING_MEMORY,
        timeout: TIMEOUT,
        outbox_name: OUTBOX.name,
    }
}

/// The texts of all templates, by their paths below `infra/`.
pub fn render(operations: &[Operation]) -> anyhow::Result<BTreeMap<PathBuf, String>> {
    let areas = areas(operations);
    let context = context(operations, &areas);
    let mut files = BTreeMap::from([(PathBuf::from("template.yaml"), render::render_with(ROOT, &[SHARED], &context)?)]);
    for (name, functions) in &areas {
        let area = AreaContext { all: &context, area: name, needs: Needs::of(functions), functions };
        files.insert(format!("stacks/{name}.yaml").into(), render::render_with(AREA, &[SHARED], area)?);
    }
    let outbox = Function::of_worker(&OUTBOX, "Renders and sends the mails that are due", None);
    let reports = Function::of_worker(&MAIL_REPORTS, "Notes what SES reports of mails that it took", None);
    let endings = Function::of_worker(&ENDINGS, "Ends deletions that took longer than their request", None);
    let trail = Function::of_worker(&TRAIL, "Links the entries of trails", None);
    // The workers are handed the secret whatever they are: some of them have it.
    let needs = Needs { uses_secret: true, renews_sessions: false };
    let workers = WorkersContext { all: &context, needs, outbox, reports, endings, trail };
    files.insert("stacks/workers.yaml".into(), render::render_with(WORKERS, &[SHARED], workers)?);
    Ok(files)
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
        assert_eq!(actions("dynamodb", [TableAction::PutItem, TableAction::GetItem]), ["dynamodb:GetItem", "dynamodb:PutItem"]);
    }
}
