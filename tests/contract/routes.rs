//! Routes: each one needs a binary, a unique method and path, and a short name.

use std::collections::{BTreeMap, BTreeSet};

use api::http::TableAction::{DeleteItem, PutItem, UpdateItem};
use api::http::table::READS;
use api::http::{Interface, Trail, Verb};
use api::product::trail::{parameters, target_kind};
use infra::checked_in::root;
use infra::openapi::common;
use infra::{Operation, operations, workers};

use crate::tree;

/// The maximum length of a route's name: what remains of Lambda's 64 characters after `gatelet-`,
/// the stage and a dash.
const MAX_NAME: usize = 43;

#[test]
fn a_name_is_unique_and_begins_with_its_area() {
    let areas = tree::areas();
    let mut seen = BTreeSet::new();
    for operation in operations::all() {
        let name = operation.route.name;
        assert!(seen.insert(name), "two operations have the name {name}");
        assert!(areas.contains(operation.area()), "{name} does not begin with a folder of functions/");
        assert!(name.len() <= MAX_NAME, "{name} is too long for a function's name");
        let plain = name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
        assert!(plain, "{name} may only contain lowercase letters, digits and dashes");
    }
}

#[test]
fn a_method_of_a_path_belongs_to_one_operation() {
    let mut seen = BTreeSet::new();
    for operation in operations::all() {
        // Two routes that differ only in the names of parameters are the same route.
        let path = operation.route.path.split('/').map(|segment| if segment.starts_with('{') { "{}" } else { segment });
        let key = (operation.route.verb.name(), path.collect::<Vec<_>>().join("/"));
        assert!(seen.insert(key), "{} has the route of another operation", operation.route.name);
    }
}

#[test]
fn every_operation_has_a_one_line_summary() {
    for operation in operations::all() {
        let (name, summary) = (operation.route.name, operation.route.summary);
        assert!(!summary.is_empty(), "{name} has no summary");
        assert!(summary.len() <= 120, "{name}: the summary must have at most 120 characters");
        assert!(
            !summary.contains(['\n', '"']) && !summary.ends_with('.'),
            "{name}: the summary must be one line, without quotes and full stop"
        );
    }
}

#[test]
fn every_error_of_a_route_is_in_the_catalog_of_its_interface() {
    for operation in operations::all() {
        for code in operation.route.codes() {
            let status = common::status(operation.route.interface, code);
            assert!(status.is_some(), "{} answers {code}, which is missing from the catalog", operation.route.name);
        }
    }
}

#[test]
fn changing_operations_leave_a_trail_entry_or_state_why_not() {
    for operation in operations::all() {
        let (name, route) = (operation.route.name, operation.route);
        let writes = route.table.actions.iter().any(|action| matches!(action, PutItem | UpdateItem | DeleteItem));
        match route.table.trail {
            Trail::Entry => assert!(writes, "{name} leaves an entry in the trail, but changes nothing"),
            Trail::Nothing(READS) => assert!(!writes && route.verb == Verb::Get, "{name} must state why it leaves no entry in the trail"),
            Trail::Nothing(reason) => assert!(reason.len() > 10 && !reason.ends_with('.'), "{name}: {reason:?} is not a sufficient reason"),
        }
    }
}

#[test]
fn path_parameters_are_targets_in_the_trail() {
    for operation in operations::all().into_iter().filter(|operation| operation.route.table.trail == Trail::Entry) {
        for (segment, parameter) in parameters(operation.route.path) {
            let is_known = parameter == "user_id" || target_kind(segment, parameter).is_some();
            assert!(is_known, "{}: {parameter} is not a known target of the trail", operation.route.name);
        }
    }
}

#[test]
fn every_function_has_a_binary_and_every_binary_a_function() {
    let routes = operations::all();
    let known = routes.iter().map(|operation| operation.route.name).chain(workers::ALL.iter().map(|worker| worker.name));
    let known: BTreeSet<String> = known.map(str::to_owned).collect();
    let mut found = BTreeSet::new();
    for area in tree::areas() {
        for binary in tree::stems(&root().join(format!("functions/{area}/src/bin")), ".rs") {
            assert!(binary.starts_with(&format!("{area}-")), "functions/{area}/src/bin/{binary}.rs is in the folder of another area");
            found.insert(binary);
        }
    }
    found.extend(tree::stems(&root().join("infra/registry/src/bin"), ".rs"));
    let (missing, unknown): (Vec<_>, Vec<_>) = (known.difference(&found).collect(), found.difference(&known).collect());
    assert!(missing.is_empty(), "without a binary functions/<area>/src/bin/<name>.rs: {missing:?}");
    assert!(unknown.is_empty(), "binaries without an operation (is it in its area's list?) or worker: {unknown:?}");
}

/// Each `run…` function panics if the operation has a different interface.
#[test]
fn every_binary_calls_the_run_function_of_its_interface() {
    for Operation { route, .. } in operations::all() {
        let area = route.name.split('-').next().unwrap();
        let text = std::fs::read_to_string(root().join(format!("functions/{area}/src/bin/{}.rs", route.name))).unwrap();
        let run = match route.interface {
            Interface::Content => "run_content",
            Interface::Product => "run",
            Interface::Agents => "run_for_agents",
            Interface::Pages => "run_page",
        };
        assert!(text.contains(&format!("api::http::{run}(ROUTE, handle)")), "{}.rs must call {run}", route.name);
    }
}

#[test]
fn no_two_binaries_run_the_same_operation() {
    let mut seen = BTreeMap::new();
    for operation in operations::all() {
        let name = operation.route.name;
        let text = std::fs::read_to_string(root().join(format!("functions/{}/src/bin/{name}.rs", operation.area()))).unwrap();
        let code: String = text.lines().filter(|line| !line.starts_with("//")).collect();
        assert!(code.contains(&format!("{}_functions::", operation.area())), "{name}.rs runs no operation of its area");
        if let Some(other) = seen.insert(code, name) {
            panic!("{name}.rs and {other}.rs run the same operation");
        }
    }
}
