//! Tests which operations are rejected, and which files are generated for valid ones.

use super::*;
use crate::operations;
use crate::workspace::root;

fn asked([area, name, method, path]: [&str; 4]) -> anyhow::Result<NewOperation> {
    let [area, name, method, path] = [area, name, method, path].map(str::to_owned);
    NewOperation::validate(OperationRequest { area, name, method, path, summary: None }, &root(), &operations::all())
}

/// The texts of the files that `infra new` creates for the given arguments.
fn texts(of: [&str; 4]) -> [String; 4] {
    texts::all(&asked(of).unwrap()).unwrap()
}

#[test]
fn an_invalid_operation_is_rejected_with_the_reason() {
    let path = "/api/v1/notes";
    for (of, reason) in [
        (["notes", "note-list", "GET", path], "unknown area \"notes\": expected one of auth, content,"),
        (["workers", "note-list", "GET", path], "unknown area"),
        (["../users", "note-list", "GET", path], "unknown area"),
        (["users", "NoteList", "GET", path], "lowercase words with dashes"),
        (["users", "note_list", "GET", path], "lowercase words with dashes"),
        (["users", "note--list", "GET", path], "lowercase words with dashes"),
        (["users", "2-notes", "GET", path], "lowercase words with dashes"),
        (["users", "", "GET", path], "lowercase words with dashes"),
        (["users", "users-note-list", "GET", path], "must not begin with the area: use \"note-list\""),
        (["users", "type", "GET", path], "a keyword of Rust"),
        (["users", "a-list-of-everything-that-anybody-ever-noted", "GET", path], "at most 43"),
        (["users", "note-list", "HEAD", path], "the method must be"),
        (["users", "note-list", "GET", "/notes"], "must begin with /api/v1/ or /api/"),
        (["users", "note-list", "GET", "/api/latest/notes"], "is an alias"),
        (["users", "note-list", "GET", "/api/v1/notes/"], "\"\" in"),
        (["users", "note-list", "GET", "/api/v1/notes?all"], "must be lowercase letters"),
        (["users", "note-list", "GET", "/api/v1/{note"], "must be lowercase letters"),
        (["users", "note-list", "GET", "/api/v1/{note-id}"], "a parameter must have a name"),
        (["users", "note-list", "GET", "/api/v1/{type}"], "a parameter must have a name"),
        (["users", "note-list", "GET", "/api/v1/{id}/{id}"], "twice"),
        (["users", "note-list", "POST", "/api/v1/{text}"], "cannot be a parameter"),
        (["users", "me-read", "GET", path], "the operation users-me-read already exists: GET /api/v1/users/me"),
        (["users", "note-list", "GET", "/api/v1/users/{id}"], "is the route of users-user-read"),
        (["content", "add-app", "POST", path], "GET operations without path parameters only"),
        (["content", "get-note", "GET", "/api/v1/notes/{id}"], "GET operations without path parameters only"),
    ] {
        let error = asked(of).unwrap_err().to_string();
        assert!(error.contains(reason), "{of:?}: {error}");
    }
}

#[test]
fn existing_files_are_not_overwritten() {
    // In the area `users`, `accounts` is a folder of modules, and `restricted` is an existing test.
    for name in ["accounts", "restricted"] {
        let error = asked(["users", name, "GET", "/api/v1/notes"]).unwrap().files(&root()).unwrap_err();
        assert!(error.to_string().contains("exists: choose another name"), "{error}");
    }
}

#[test]
fn an_operation_has_its_path_parameters_and_a_body_if_its_method_has_one() {
    let [operation, lambda, event, test] = texts(["teams", "note-update", "patch", "/api/v1/teams/{team_id}/notes/{note_id}"]);
    for part in [
        "//! `PATCH /api/v1/teams/{team_id}/notes/{note_id}`: note update.\n",
        "Route::patch(\"teams-note-update\", \"/api/v1/teams/{team_id}/notes/{note_id}\").summary(\"Note update\")",
        ".writes_nothing();",
        "/// Id of the note.\n    note_id: String,",
        "Input { body, path, .. }: Input<NoteUpdateBody, Nothing, NoteUpdatePath>",
        "team_id: path.team_id,\n        note_id: path.note_id,\n        text: body.text,",
    ] {
        assert!(operation.contains(part), "{part} is not in\n{operation}");
    }
    assert!(lambda.contains("use teams_functions::note_update::{ROUTE, handle};") && lambda.lines().count() == 6, "{lambda}");
    let event: serde_json::Value = serde_json::from_str(&event).unwrap();
    assert_eq!(event["routeKey"], "PATCH /api/{version}/teams/{team_id}/notes/{note_id}");
    assert_eq!(event["rawPath"], "/api/v1/teams/8d3c1b0a-6f2e-4a59-9c7d-1e2f3a4b5c6d/notes/some-note-id");
    assert_eq!(event["pathParameters"]["note_id"], "some-note-id");
    assert_eq!(event["headers"]["content-length"], event["body"].as_str().unwrap().len().to_string());
    assert!(test.contains("\"note_id\": \"some-note-id\"") && test.contains("INSUFFICIENT_ACCESS_TYPE"), "{test}");
}

#[test]
fn an_operation_without_parameters_reads_nothing_from_the_request() {
    let [operation, _, event, _] = texts(["edge", "tell-time", "GET", "/api/time"]);
    assert!(operation.contains("handle(access: Access<Server>, _: Input)") && !operation.contains("Deserr"), "{operation}");
    assert!(!operation.contains("writes_nothing"), "a GET needs no reason for leaving no trail");
    let event: serde_json::Value = serde_json::from_str(&event).unwrap();
    assert!(event["body"].is_null() && event["pathParameters"].is_null());
    let [operation, lambda, event, _] = texts(["content", "count-apps", "GET", "/api/v1/app-count"]);
    assert!(lambda.contains("api::http::run_content(ROUTE, handle)"), "{lambda}");
    assert!(operation.contains(".content()") && !operation.contains("Access<"), "{operation}");
    assert!(!event.contains("x-service-"), "{event}");
}

#[test]
fn a_new_operation_has_no_unused_imports() {
    for (area, path) in [("users", "/api/v1/notes"), ("users", "/api/v1/notes/{note_id}"), ("content", "/api/v1/notes")] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"].into_iter().filter(|method| area != "content" || *method == "GET") {
            for source in texts([area, "sample-note", method, path]) {
                let imported = source.lines().filter_map(|line| line.strip_prefix("use ")?.strip_suffix(';')?.rsplit("::").next());
                for name in imported.flat_map(|names| names.trim_matches(['{', '}']).split(", ")) {
                    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
                    let uses = source.split(|letter| !is_name(letter)).filter(|word| *word == name).count();
                    assert!(uses > 1, "{method} {path} imports {name} for nothing:\n{source}");
                }
            }
        }
    }
}
