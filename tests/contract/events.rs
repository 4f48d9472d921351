//! Events: there is one for each operation, at least one for each worker, and no others.

use std::collections::BTreeSet;

use infra::checked_in::root;
use infra::template::route_key;
use infra::{operations, workers};
use serde_json::Value;

use crate::tree;

/// Asserts that an event has the form that API Gateway sends (payload format 2.0).
pub(crate) fn assert_request(name: &str, event: &Value) {
    assert_eq!(event["version"], "2.0", "{name}");
    let http = &event["requestContext"]["http"];
    assert_eq!(event["rawPath"], http["path"], "{name}");
    assert_eq!(event["routeKey"], event["requestContext"]["routeKey"], "{name}");
    assert!(event["rawQueryString"].is_string(), "{name} has no rawQueryString");
    assert!(http["sourceIp"].is_string(), "{name} has no sourceIp");
    assert_eq!(event["isBase64Encoded"], false, "{name}: events must be readable");
    if let Some(body) = event["body"].as_str() {
        let is_json = event["headers"]["content-type"].as_str().is_none_or(|kind| kind.starts_with("application/json"));
        assert!(!is_json || serde_json::from_str::<Value>(body).is_ok(), "{name}: its body is not JSON");
    }
}

#[test]
fn every_operation_has_an_event_for_its_route() {
    for operation in operations::all() {
        let (name, route) = (operation.route.name, &operation.route);
        let event = tree::event(operation.area(), operation.short_name());
        assert_request(name, &event);
        assert_eq!(event["requestContext"]["http"]["method"], route.verb.name(), "{name}");
        assert_eq!(event["routeKey"], route_key(route.verb.name(), route), "{name}");
        let path = event["rawPath"].as_str().unwrap();
        assert!(route.matches(path), "{name}: {path} is not a path of {}", route.path);
    }
}

#[test]
fn the_fallback_event_matches_no_operation() {
    let event = tree::event("edge", "fallback");
    assert_request("edge-fallback", &event);
    assert_eq!(event["routeKey"], "$default");
    let (method, path) = (&event["requestContext"]["http"]["method"], event["rawPath"].as_str().unwrap());
    assert!(!operations::all().iter().any(|operation| operation.route.verb.name() == method && operation.route.matches(path)));
}

#[test]
fn every_event_belongs_to_a_function() {
    let operations = operations::all();
    let known: BTreeSet<(&str, &str)> = operations.iter().map(|operation| (operation.area(), operation.short_name())).collect();
    for area in tree::names(&root().join("events")) {
        for event in tree::names(&root().join("events").join(&area)) {
            let name = event.strip_suffix(".json").unwrap_or_else(|| panic!("events/{area}/{event} is not a JSON file"));
            let is_worker = workers::ALL.iter().any(|worker| format!("{area}-{name}").starts_with(worker.name));
            assert!(
                is_worker || known.contains(&(area.as_str(), name)),
                "events/{area}/{event} belongs to neither an operation nor a worker"
            );
        }
    }
}

#[test]
fn every_worker_has_an_event() {
    for worker in workers::ALL {
        let (area, name) = worker.name.split_once('-').unwrap();
        let events = tree::stems(&root().join("events").join(area), ".json");
        assert!(events.iter().any(|event| event.starts_with(name)), "events/{area}/{name}*.json is missing");
    }
}
