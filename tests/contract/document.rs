//! The OpenAPI document contains every operation exactly once, and every error code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use api::content::Problem;
use errors::KnownError;
use infra::{openapi, operations, pages, reference};
use model::limit::Limit;
use model::webhook::event::EventType;
use serde_json::{Value, json};

const URL: &str = "https://api.example.com";

fn document() -> Value {
    static WRITTEN: LazyLock<Value> = LazyLock::new(|| openapi::json(URL, URL).unwrap());
    WRITTEN.clone()
}

/// Every operation of the document: id, method, path and description.
fn documented(document: &Value) -> Vec<(String, String, String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap().to_owned();
            found.push((id, method.to_uppercase(), path.clone(), operation.clone()));
        }
    }
    found
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|value| references(value, found));
        }
        Value::Array(array) => array.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn every_operation_is_documented_once() {
    let document = document();
    let mut documented: BTreeMap<_, _> = documented(&document).into_iter().map(|(id, method, path, _)| (id, (method, path))).collect();
    for operation in operations::of_apis() {
        let route = operation.route;
        let found = documented.remove(route.name).unwrap_or_else(|| panic!("{} is not documented", route.name));
        assert_eq!(found, (route.verb.name().to_owned(), route.path.to_owned()));
    }
    assert!(documented.is_empty(), "documented without being an operation: {documented:?}");
}

#[test]
fn operations_have_a_summary_an_area_a_response_and_path_parameters() {
    let document = document();
    let areas: Vec<&Value> = document["tags"].as_array().unwrap().iter().map(|tag| &tag["name"]).collect();
    for (id, _, path, operation) in documented(&document) {
        assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{id}");
        assert!(areas.contains(&&operation["tags"][0]), "{id}: its area is not described");
        let success = operation["responses"].as_object().unwrap().keys().any(|status| status.starts_with(['2', '3']));
        assert!(success, "{id} never succeeds");
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let named = parameters.iter().filter(|parameter| parameter["in"] == "path").count();
        assert_eq!(named, path.matches('{').count(), "{id}: {path} and its parameters differ");
    }
}

/// A GET returns something to read. Generated clients drop bodies without a media type, or with any
/// type (`*/*`).
#[test]
fn every_response_to_a_get_has_a_body_of_known_media_types() {
    // The OAuth callback redirects or shows an error.
    let without_body = ["auth-oauth-callback"];
    for (id, _, _, operation) in documented(&document()).into_iter().filter(|(_, method, ..)| method == "GET") {
        let Some(success) = operation["responses"].get("200").filter(|_| !without_body.contains(&id.as_str())) else { continue };
        let content = success["content"].as_object().unwrap_or_else(|| panic!("{id} answers without a body"));
        for (media_type, described) in content {
            assert!(media_type != "*/*" && described["schema"].is_object(), "{id}: {media_type} {described}");
        }
    }
}

/// The fields of a schema and of its parts. A field that is declared several times is listed as
/// many times.
fn fields<'a>(document: &'a Value, schema: &'a Value) -> Vec<&'a str> {
    let schema = schema["$ref"].as_str().and_then(|name| document.pointer(name.trim_start_matches('#'))).unwrap_or(schema);
    let own = schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str));
    own.chain(schema["allOf"].as_array().into_iter().flatten().flat_map(|part| fields(document, part))).collect()
}

/// Generated clients cannot merge two types of the same field.
#[test]
fn no_schema_declares_a_field_in_two_of_its_parts() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let mut fields = fields(&document, schema);
        fields.sort_unstable();
        let twice: Vec<_> = fields.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(twice.is_empty(), "{name} declares twice: {twice:?}");
    }
}

#[test]
fn every_code_is_documented() {
    let document = document();
    let listed = |pointer: &str| document.pointer(pointer).and_then(Value::as_array).cloned().unwrap();
    let product = listed("/components/schemas/ProductErrorCode/enum");
    assert!(KnownError::CODES.iter().all(|code| product.contains(&Value::from(*code))));
    let content = listed("/components/schemas/ContentError/properties/error/properties/code/enum");
    assert!(Problem::ALL.iter().all(|problem| content.contains(&Value::from(problem.code()))));
    let page = pages::errors::page(&pages::Frame::new(false)).unwrap();
    for code in KnownError::CODES.iter().copied().chain(Problem::ALL.map(Problem::code)) {
        assert!(page.contains(&format!("id=\"{code}\"")), "the page of error codes has no anchor {code}");
    }
}

#[test]
fn every_error_of_a_route_is_among_its_responses() {
    let documented: BTreeMap<_, _> = documented(&document()).into_iter().map(|(id, _, _, operation)| (id, operation)).collect();
    for operation in operations::of_apis() {
        let answers = documented[operation.route.name]["responses"].as_object().unwrap();
        for code in operation.route.codes() {
            let has = answers.values().any(|answer| answer["x-codes"].as_array().is_some_and(|codes| codes.contains(&Value::from(code))));
            assert!(has, "{} does not document {code}", operation.route.name);
        }
    }
}

#[test]
fn exactly_the_limited_operations_document_429() {
    let documented: BTreeMap<_, _> = documented(&document()).into_iter().map(|(id, _, _, operation)| (id, operation)).collect();
    for operation in operations::of_apis() {
        let reads = operation.description.counts_reads.then_some(Limit::Read);
        let (name, limit) = (operation.route.name, operation.route.limit.or(reads).map(Limit::name));
        let refusal = &documented[name]["responses"]["429"];
        assert_eq!(refusal["x-limit"].as_str(), limit, "{name}");
        for header in ["Retry-After", "RateLimit", "RateLimit-Policy"] {
            assert_eq!(refusal["headers"][header].is_object(), limit.is_some(), "{name}: {header}");
        }
    }
}

#[test]
fn every_reference_resolves_and_no_schema_name_is_ambiguous() {
    let document = document();
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference} leads nowhere");
    }
    let clashes = openapi::clashes(&operations::of_apis());
    assert!(clashes.is_empty(), "different types in different operations have these names: {clashes:?}");
}

#[test]
fn the_reference_covers_every_operation_and_loads_only_local_assets() {
    let (frame, reference) = (pages::Frame::new(false), reference::Reference::of(&document()));
    let index = reference.index(&frame, "").unwrap();
    for operation in operations::of_apis() {
        let name = operation.route.name;
        assert!(index.contains(&format!("id=\"{name}\"")), "{name} is not in the index");
        let page = reference.operation(&frame, name).unwrap_or_else(|| panic!("{name} has no page")).unwrap();
        for loading in ["src=\"http", "src=\"//", "<style", " style=", "<script>", "@import"] {
            assert!(!page.contains(loading), "{name}: {loading}");
        }
    }
}

/// The schemas of bodies and responses that the reference shows.
fn shown_schemas<'a>(operation: &'a Value) -> Vec<&'a Value> {
    let json = |content: &'a Value| &content["content"]["application/json"]["schema"];
    let answers = operation["responses"].as_object().into_iter().flatten().filter(|(_, answer)| answer["x-codes"].is_null());
    let schemas = answers.map(|(_, answer)| json(answer)).chain([json(&operation["requestBody"])]);
    schemas.filter(|schema| !schema.is_null()).collect()
}

#[test]
fn every_field_and_parameter_is_described() {
    let document = document();
    let mut missing = std::collections::BTreeSet::new();
    for (id, _, _, operation) in documented(&document) {
        for schema in shown_schemas(&operation) {
            missing.extend(reference::undescribed(&document, schema).into_iter().map(|field| format!("{id}: {field}")));
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            if parameter["description"].as_str().is_none_or(str::is_empty) {
                missing.insert(format!("{id}: parameter {}", parameter["name"].as_str().unwrap()));
            }
        }
    }
    assert!(missing.is_empty(), "{} without a description:\n{}", missing.len(), missing.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn event_types_are_documented_under_their_names() {
    let names: Vec<_> = EventType::ALL.iter().map(|event| event.name()).collect();
    assert_eq!(document()["components"]["schemas"]["EventType"]["enum"], json!(names));
}

/// The names and schemas of all fields that requests contain.
fn fields_of_requests(document: &Value) -> Vec<(String, Value)> {
    let (mut waiting, mut fields, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (.., operation) in &documented(document) {
        references(&operation["requestBody"], &mut waiting);
    }
    while let Some(name) = waiting.pop() {
        if seen.insert(name.clone()) {
            let schema = document.pointer(name.trim_start_matches('#')).unwrap();
            references(schema, &mut waiting);
            let properties = schema["properties"].as_object().into_iter().flatten();
            fields.extend(properties.map(|(field, schema)| (field.clone(), schema.clone())));
        }
    }
    fields
}

/// A module that is stored as HTML would be sent to customers.
#[test]
fn every_source_of_an_email_in_a_request_refuses_modules() {
    let is_source = |name: &str| name == "html" || name.ends_with("html_source") || name.ends_with("tsx_source");
    let mut found = 0;
    for (name, schema) in fields_of_requests(&document()).iter().filter(|(name, _)| is_source(name)) {
        let mut names = Vec::new();
        references(schema, &mut names);
        assert_eq!(names, ["#/components/schemas/HtmlSource"], "{name}: {schema}");
        found += 1;
    }
    assert!(found > 10, "{found}");
}
