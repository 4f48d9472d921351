//! An example request for a shell.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::fields::resolve;

/// A `curl` command that calls an operation.
pub(super) fn example(document: &Value, base: &str, method: &str, path: &str, operation: &Value) -> String {
    let mut command = if method == "GET" { "curl".to_owned() } else { format!("curl -X {method}") };
    let _ = write!(command, " '{base}{path}{}'", query(operation));
    let access = operation["x-access"].as_str().unwrap_or("public");
    let key = match access {
        "client" => Some(("Publishable-Client-Key", "pck_…")),
        "server" => Some(("Secret-Server-Key", "ssk_…")),
        "admin" => Some(("Super-Secret-Admin-Key", "sak_…")),
        _ => None,
    };
    if let Some((name, value)) = key {
        for (name, value) in [("Access-Type", access), ("Project-Id", "…"), (name, value)] {
            let _ = write!(command, " \\\n  -H 'X-Service-{name}: {value}'");
        }
    }
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    if !schema.is_null() {
        let body = value(document, schema, 4);
        let _ = write!(command, " \\\n  --json '{}'", body.to_string().replace('\'', r"'\''"));
    }
    command
}

fn query(operation: &Value) -> String {
    let required = |parameter: &&Value| parameter["in"] == "query" && parameter["required"] == true;
    let names =
        operation["parameters"].as_array().into_iter().flatten().filter(required).filter_map(|parameter| parameter["name"].as_str());
    let pairs: Vec<String> = names.map(|name| format!("{name}=…")).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// A value that fits a schema in form: its example, or something of its type; of objects the required fields.
fn value(document: &Value, schema: &Value, depth: usize) -> Value {
    let schema = resolve(document, schema);
    let given = [&schema["example"], &schema["examples"][0], &schema["default"], &schema["enum"][0]];
    if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
        return given.clone();
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or_default();
    match (kind, depth) {
        (_, 0) => Value::Null,
        ("boolean", _) => Value::Bool(true),
        ("integer" | "number", _) => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        ("array", _) => json!([value(document, &schema["items"], depth - 1)]),
        ("string", _) => Value::from(match schema["format"].as_str() {
            Some("uuid") => "00000000-0000-4000-8000-000000000000",
            Some("uri" | "url") => "https://app.example.com/",
            Some("email") => "ada@example.com",
            _ => "…",
        }),
        _ => Value::Object(object(document, schema, depth)),
    }
}

fn object(document: &Value, schema: &Value, depth: usize) -> Map<String, Value> {
    let mut found = Map::new();
    let chosen = schema["oneOf"].as_array().or(schema["anyOf"].as_array()).and_then(|choices| choices.first());
    for part in schema["allOf"].as_array().into_iter().flatten().chain(chosen) {
        if let Value::Object(part) = value(document, part, depth - 1) {
            found.extend(part);
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        found.insert(name.to_owned(), value(document, &schema["properties"][name], depth - 1));
    }
    found
}
