//! The deployment template has every function, with what its route allows and no more.

use std::collections::BTreeSet;

use infra::template::{logical_id, route_key};
use infra::{operations, workers};
use serde_json::Value;

use crate::tree;

fn resources() -> serde_json::Map<String, Value> {
    let Value::Object(resources) = tree::template()["Resources"].take() else { panic!("the template has no resources") };
    resources
}

fn route_keys(resources: &serde_json::Map<String, Value>, id: &str) -> BTreeSet<String> {
    let target = format!("integrations/${{{id}Integration}}");
    let routes =
        resources.values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Route" && one["Properties"]["Target"] == target.as_str());
    routes.map(|route| route["Properties"]["RouteKey"].as_str().unwrap().to_owned()).collect()
}

/// Actions of DynamoDB on the table itself.
fn table_actions(resources: &serde_json::Map<String, Value>, id: &str) -> BTreeSet<String> {
    let role = &resources[&format!("{id}Role")]["Properties"];
    assert!(role["ManagedPolicyArns"].is_null(), "{id}Role has policies that others write");
    let statements = role["Policies"][0]["PolicyDocument"]["Statement"].as_array().unwrap();
    let actions = statements.iter().filter(|statement| statement["Sid"] == "Table");
    actions.flat_map(|statement| statement["Action"].as_array().unwrap()).map(|action| action.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_operation_has_a_function_behind_its_route_key() {
    let resources = resources();
    for operation in operations::all() {
        let (name, route, id) = (operation.route.name, &operation.route, logical_id(operation.route.name));
        let function = resources.get(&id).unwrap_or_else(|| panic!("the template has no function {id}"));
        assert_eq!(function["Type"], "AWS::Serverless::Function", "{name}");
        assert_eq!(function["Properties"]["CodeUri"], format!("../target/lambda/{name}/"));
        assert_eq!(function["Properties"]["MemorySize"], route.memory, "{name}");
        assert_eq!(resources[&format!("{id}Integration")]["Properties"]["IntegrationUri"], format!("{id}.Arn"));
        let keys = route_keys(&resources, &id);
        assert!(keys.contains(&route_key(route.verb.name(), route)), "{name} has the route keys {keys:?}");
    }
}

#[test]
fn every_role_may_do_what_its_route_says_and_no_more() {
    let resources = resources();
    let functions = operations::all().into_iter().map(|operation| (operation.route.name, operation.route.table));
    for (name, table) in functions.chain(workers::ALL.iter().map(|worker| (worker.name, worker.table))) {
        let wanted: BTreeSet<String> = table.iter().map(|action| format!("dynamodb:{action:?}")).collect();
        assert_eq!(table_actions(&resources, &logical_id(name)), wanted, "{name}");
    }
}

#[test]
fn what_no_operation_matches_goes_to_the_fallback() {
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
fn the_stack_has_fewer_resources_than_cloudformation_takes() {
    // SAM adds a few of its own. Beyond the limit, areas become nested stacks.
    assert!(resources().len() < 490);
}

#[test]
fn a_route_takes_every_name_of_a_version_so_that_none_needs_resources_of_its_own() {
    let resources = resources();
    let routes = resources.values().filter(|one| one["Type"] == "AWS::ApiGatewayV2::Route");
    let keys: Vec<&str> = routes.map(|route| route["Properties"]["RouteKey"].as_str().unwrap()).collect();
    let named = keys.iter().filter(|key| key.contains("/v1") || key.contains("/latest"));
    assert_eq!(named.collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(keys.contains(&"GET /api/{version}/users/me"), "{keys:?}");
}
