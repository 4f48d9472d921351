//! Every list is paginated, unless it can never exceed one page.

use std::collections::{BTreeMap, BTreeSet};

use infra::{openapi, operations};
use serde_json::Value;
use wire::level::Level;

/// Unpaginated lists that clients or strangers can read, and the reasons why each stays well below
/// a megabyte.
const WHOLE: &[(&str, &str)] = &[
    ("auth-connected-account-list", "the quota of provider accounts"),
    ("auth-mfa-authenticator-list", "the quota of authenticator apps"),
    ("auth-mfa-device-list", "the quota of remembered devices"),
    ("auth-passkey-list", "the quota of passkeys"),
    ("emails-preference-list", "the categories of emails"),
    ("content-list-apps", "one item of the table"),
    ("content-list-blog-posts", "the header `Link` leads to the rest, at 1 MB"),
    ("keys-team-key-list", "the quota of API keys"),
    ("keys-user-key-list", "the quota of API keys"),
    ("openid-grant-list", "one for each client of the project, of which there are at most 1,000"),
    ("teams-project-permission-list", "the number of definitions that a project can have"),
    ("users-contact-channel-list", "the quota of contact channels"),
];

/// Unpaginated lists for servers and administrators. Nobody else can make these lists longer.
const OF_ADMINISTRATORS: &[(&str, &str)] = &[
    ("emails-internal-list", "the hundred newest emails, without their bodies"),
    ("emails-managed-onboarding-list", "always empty"),
    ("openid-resource-list", "at most a hundred resources of a project"),
    ("projects-api-key-list", "the quota of sets of API keys"),
];

/// The operations that return a list, and whether they support page parameters.
fn lists() -> BTreeMap<String, bool> {
    let document = openapi::json("http://localhost", "http://localhost").unwrap();
    let mut lists = BTreeMap::new();
    for operation in document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values()) {
        let answers = operation["responses"].as_object().into_iter().flatten().filter(|(status, _)| status.starts_with('2'));
        let schemas = answers.map(|(_, answer)| &answer["content"]["application/json"]["schema"]);
        let resolved = schemas.map(|schema| match schema["$ref"].as_str() {
            Some(name) => document.pointer(name.trim_start_matches('#')).unwrap(),
            None => schema,
        });
        // Some lists use a different name for their items.
        let is_list = |schema: &Value| {
            let has_items = schema["properties"].as_object().is_some_and(|fields| fields.values().any(|field| field["type"] == "array"));
            has_items && (schema["properties"]["is_paginated"].is_object() || operation["operationId"].as_str().unwrap().contains("-list"))
        };
        if resolved.into_iter().any(is_list) {
            let names: BTreeSet<&str> =
                operation["parameters"].as_array().into_iter().flatten().filter_map(|parameter| parameter["name"].as_str()).collect();
            let has_pages = names.contains("limit") && names.contains("cursor");
            lists.insert(operation["operationId"].as_str().unwrap().to_owned(), has_pages);
        }
    }
    lists
}

#[test]
fn every_list_has_pages_or_cannot_be_long() {
    let lists = lists();
    assert!(lists.len() > 20, "{lists:?}");
    let of_clients = |name: &str| {
        let operation = operations::all().into_iter().find(|operation| operation.route.name == name);
        operation.is_none_or(|operation| matches!(operation.description.level, None | Some(Level::Client)))
    };
    for (name, has_pages) in &lists {
        let exceptions = if of_clients(name) { WHOLE } else { OF_ADMINISTRATORS };
        let exception = exceptions.iter().find(|(other, _)| other == name);
        match (has_pages, exception) {
            (true, None) => {}
            (true, Some(_)) => panic!("{name} has pages now: remove the exception"),
            (false, Some((_, bound))) => assert!(bound.len() > 10, "{name} needs a bound"),
            (false, None) => panic!("{name} is a list without `limit` and `cursor`: a long one would fail or exhaust the service"),
        }
    }
    for (name, _) in WHOLE.iter().chain(OF_ADMINISTRATORS) {
        assert!(lists.contains_key(*name), "{name} is no list");
    }
}
