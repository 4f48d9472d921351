//! The deployment template contains every function, with exactly the permissions that its route
//! lists.

use std::collections::BTreeSet;

use api::http::Need;
use infra::template::{self, ANY, area, logical_id, route_key};
use infra::{Operation, operations, workers};
use serde_json::Value;

use crate::tree;

/// CloudFormation's limit on the number of resources in a stack.
const MAX_RESOURCES: usize = 500;
/// CloudFormation's limit on the size of a template, in bytes.
const MAX_BYTES: usize = 1_000_000;

/// API Gateway limits an API to 300 integrations, and AWS does not raise this limit. The
/// integrations that remain are reserved for the work on a second API ("More functions than an API
/// can have", `docs/architecture.md`).
const MAX_INTEGRATIONS: usize = 290;

/// The resources of all nested stacks in one map.
pub(crate) fn resources() -> serde_json::Map<String, Value> {
    let mut all = serde_json::Map::new();
    for (name, mut stack) in tree::stacks() {
        let Value::Object(resources) = stack["Resources"].take() else { panic!("the stack {name} has no resources") };
        for (id, resource) in resources {
            assert!(all.insert(id.clone(), resource).is_none(), "two stacks have a resource {id}");
        }
    }
    all
}

#[test]
fn one_api_has_room_for_all_functions() {
    let integrations = resources().values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Integration").count();
    assert!(integrations > 200, "{integrations}");
    assert!(integrations < MAX_INTEGRATIONS, "{integrations} of {MAX_INTEGRATIONS} integrations");
}

fn route_keys(resources: &serde_json::Map<String, Value>, id: &str) -> BTreeSet<String> {
    let target = format!("integrations/${{{id}Integration}}");
    let routes =
        resources.values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Route" && one["Properties"]["Target"] == target.as_str());
    routes.map(|route| route["Properties"]["RouteKey"].as_str().unwrap().to_owned()).collect()
}

/// The DynamoDB actions that a role allows on the table itself, apart from its indexes.
fn table_actions(resources: &serde_json::Map<String, Value>, id: &str) -> BTreeSet<String> {
    let role = &resources[&format!("{id}Role")]["Properties"];
    assert!(role["ManagedPolicyArns"].is_null(), "{id}Role has managed policies");
    let statements = role["Policies"][0]["PolicyDocument"]["Statement"].as_array().unwrap();
    let actions = statements.iter().filter(|statement| statement["Sid"] == "Table");
    actions.flat_map(|statement| statement["Action"].as_array().unwrap()).map(|action| action.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_operation_has_a_function_behind_its_route_key() {
    let resources = resources();
    let all = operations::all();
    for operation in &all {
        let (name, route, id) = (operation.route.name, &operation.route, logical_id(operation.route.name));
        let function = resources.get(&id).unwrap_or_else(|| panic!("the template has no function {id}"));
        assert_eq!(function["Type"], "AWS::Serverless::Function", "{name}");
        assert_eq!(function["Properties"]["CodeUri"], format!("../../target/lambda/{name}/"));
        let memory = &function["Properties"]["MemorySize"];
        let needs_core = route.needs.has(Need::Hashing) || route.needs.has(Need::WholeCore);
        let wanted = if needs_core { Value::from("HashingMemory") } else { Value::Null };
        assert_eq!(*memory, wanted, "{name}");
        assert_eq!(resources[&format!("{id}Integration")]["Properties"]["IntegrationUri"], format!("{id}.Arn"));
        let keys = route_keys(&resources, &id);
        let gets = |method: &str| [method, ANY].iter().any(|method| keys.contains(&route_key(method, route)));
        assert!(gets(route.verb.name()), "{name} has the route keys {keys:?}");
        let is_alone =
            route.verb.name() == "GET" && !all.iter().any(|other| other.route.path != route.path && other.route.matches(route.path));
        assert!(is_alone || !keys.contains(&route_key(ANY, route)), "{name} gets requests of other operations");
        // Handlers of GET also handle HEAD, but API Gateway forwards HEAD only if there is a route
        // for it.
        assert!(route.verb.name() != "GET" || gets("HEAD"), "{name} has no route for HEAD");
    }
}

#[test]
fn every_role_has_exactly_the_permissions_of_its_route() {
    let resources = resources();
    let functions = operations::all().into_iter().map(|operation| (operation.route.name, operation.route.actions()));
    for (name, table) in functions.chain(workers::ALL.iter().map(|worker| (worker.name, worker.table.to_vec()))) {
        let wanted: BTreeSet<String> = table.iter().map(|action| format!("dynamodb:{action:?}")).collect();
        assert_eq!(table_actions(&resources, &logical_id(name)), wanted, "{name}");
    }
}

#[test]
fn unmatched_requests_go_to_the_fallback() {
    let keys = route_keys(&resources(), &logical_id(workers::FALLBACK.name));
    assert_eq!(keys, BTreeSet::from(["$default".to_owned()]));
}

#[test]
fn every_function_of_the_template_belongs_to_an_operation_or_a_worker() {
    let operations = operations::all();
    let known = operations.iter().map(|operation| operation.route.name).chain(workers::ALL.iter().map(|worker| worker.name));
    let known: BTreeSet<String> = known.map(logical_id).collect();
    let resources = resources();
    let found = resources.iter().filter(|(_, one)| one["Type"] == "AWS::Serverless::Function").map(|(id, _)| id.clone());
    assert_eq!(found.collect::<BTreeSet<String>>(), known);
}

#[test]
fn the_root_has_a_stack_for_each_area_and_passes_every_parameter() {
    let root = tree::template();
    let known = operations::all().into_iter().map(|operation| operation.route.name).chain(workers::ALL.iter().map(|worker| worker.name));
    let areas: BTreeSet<String> = known.map(|name| area(name).to_owned()).collect();
    assert_eq!(tree::stacks().into_keys().collect::<BTreeSet<_>>(), areas);
    for (name, stack) in tree::stacks() {
        let resource = &root["Resources"][logical_id(&name)]["Properties"];
        assert_eq!(resource["TemplateURL"], format!("stacks/{name}.yaml"));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(keys(&resource["Parameters"]), keys(&stack["Parameters"]), "{name}");
    }
}

/// The path of each template, with the number of its resources after the transformation and its
/// size, and the number of routes of the API.
fn measure(operations: &[Operation]) -> (Vec<(String, usize, usize)>, usize) {
    let mut routes = 0;
    let files = template::render(operations).unwrap();
    let sizes = files.into_iter().map(|(path, text)| {
        let template: Value = serde_saphyr::from_str(&text).unwrap();
        let resources = template["Resources"].as_object().unwrap();
        routes += resources.values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Route").count();
        // SAM adds a resource for each function that configures asynchronous events.
        let more = resources.values().filter(|one| !one["Properties"]["EventInvokeConfig"].is_null()).count();
        (path.display().to_string(), resources.len() + more, text.len())
    });
    let sizes = sizes.collect();
    (sizes, routes)
}

/// Asserts that the templates of these operations stay within the limits; returns the number of
/// routes.
fn assert_deployable(operations: &[Operation]) -> usize {
    let (sizes, routes) = measure(operations);
    for (path, resources, bytes) in sizes {
        assert!(resources <= MAX_RESOURCES, "{path} has {resources} resources");
        assert!(bytes <= MAX_BYTES, "{path} has {bytes} bytes");
    }
    routes
}

#[test]
fn the_stacks_fit_the_limits_of_cloudformation() {
    let routes = assert_deployable(&operations::all());
    // API Gateway's default quota, which AWS raises on request.
    assert!(routes <= 300, "the API has {routes} routes");
}

#[test]
fn three_hundred_functions_fit_and_eighty_in_one_area() {
    let mut all = operations::all();
    let (of_auth, rest): (Vec<_>, Vec<_>) = all.iter().cloned().partition(|operation| operation.area() == "auth");
    let made_up = |operation: &Operation, number: usize| {
        let mut operation = operation.clone();
        operation.route.name = format!("{}-{number}", operation.route.name).leak();
        operation.route.path = format!("{}/{number}", operation.route.path).leak();
        operation
    };
    all.extend(of_auth.iter().cycle().take(80 - of_auth.len()).enumerate().map(|(number, one)| made_up(one, number)));
    let missing = 300 - all.len();
    all.extend(rest.iter().cycle().take(missing).enumerate().map(|(number, one)| made_up(one, number)));
    assert_eq!(all.len(), 300);
    assert_deployable(&all);
}

#[test]
fn a_route_covers_every_version_alias_without_extra_resources() {
    let resources = resources();
    let routes = resources.values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Route");
    let keys: Vec<&str> = routes.map(|route| route["Properties"]["RouteKey"].as_str().unwrap()).collect();
    let named = keys.iter().filter(|key| key.contains(" /api/v1") || key.contains(" /api/latest"));
    assert_eq!(named.collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(keys.contains(&"GET /api/{version}/users/me"), "{keys:?}");
}
