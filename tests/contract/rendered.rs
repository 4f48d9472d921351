//! The rendered files that are checked in are up to date. The OpenAPI document and the manifests of
//! the areas are compared only by `infra render --check`.

use api::http::version::gateway_path;
use infra::checked_in::{File, WATCH, document, template_files};
use infra::operations;

fn assert_current(file: &File) {
    // `assert_eq!` would print both files, which have thousands of lines.
    let line = file.found.lines().zip(file.wanted.lines()).position(|(found, wanted)| found != wanted);
    let line = line.unwrap_or_else(|| file.found.lines().count().min(file.wanted.lines().count())) + 1;
    assert!(file.is_current(), "{} is out of date from line {line} on: run `cargo run -p infra -- render`", file.path.display());
}

#[test]
fn the_template_is_up_to_date() {
    for file in template_files().unwrap() {
        assert_current(&file);
    }
}

#[test]
fn the_routes_of_cargo_lambda_watch_are_up_to_date() {
    assert_current(&document(WATCH).unwrap());
}

#[test]
fn the_list_of_all_operations_is_up_to_date() {
    assert_current(&document("docs/all-operations.md").unwrap());
}

#[test]
fn the_list_of_error_codes_is_up_to_date() {
    assert_current(&document("docs/errors.md").unwrap());
}

#[test]
fn the_table_of_quotas_is_up_to_date() {
    assert_current(&document("docs/api/quotas.md").unwrap());
}

#[test]
fn the_page_of_the_console_is_up_to_date() {
    assert_current(&document("infra/console/page.html").unwrap());
}

#[test]
fn the_scorecard_is_up_to_date() {
    assert_current(&document("docs/security/scorecard.md").unwrap());
}

#[test]
fn every_operation_has_a_watch_route() {
    let routes: toml::Table = document(WATCH).unwrap().found.parse().unwrap();
    for operation in operations::all() {
        let functions = routes["watch"]["router"][&gateway_path(operation.route.path)].as_array().unwrap();
        let has = functions.iter().any(|function| function["function"].as_str() == Some(operation.route.name));
        assert!(has, "{} has no watch route", operation.route.name);
    }
}
