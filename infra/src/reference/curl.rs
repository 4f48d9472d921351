//! An example request as a shell command. Keys appear as variables, named as in a gateway's
//! `keys.env`.

use std::fmt::Write as _;

use serde_json::Value;

use super::event::{self, Request};
use super::example;

/// A `curl` command that calls an operation. The request comes from the operation's event or, if it
/// has none, is made from the schemas.
pub(super) fn command(document: &Value, base: &str, method: &str, path: &str, operation: &Value) -> String {
    let id = operation["operationId"].as_str().unwrap_or_default();
    let request = event::request(id).unwrap_or_else(|| derived(document, path, operation));
    let mut command = if method == "GET" { "curl".to_owned() } else { format!("curl -X {method}") };
    let _ = write!(command, " {}", quoted(&format!("{base}{}", request.path)));
    let access = operation["x-access"].as_str().unwrap_or("public");
    let key = match access {
        "client" => Some(("Publishable-Client-Key", "GATELET_PUBLISHABLE_CLIENT_KEY")),
        "server" => Some(("Secret-Server-Key", "GATELET_SECRET_SERVER_KEY")),
        "admin" => Some(("Super-Secret-Admin-Key", "GATELET_SUPER_SECRET_ADMIN_KEY")),
        _ => None,
    };
    if let Some((name, variable)) = key {
        for (name, value) in [("Access-Type", access), ("Project-Id", "$GATELET_PROJECT_ID"), (name, &format!("${variable}"))] {
            let _ = write!(command, " \\\n  -H \"X-Service-{name}: {value}\"");
        }
        if request.has_access_token {
            command.push_str(" \\\n  -H \"X-Service-Access-Token: $ACCESS_TOKEN\"");
        }
    }
    if let Some(body) = &request.body {
        match serde_json::from_str::<Value>(body) {
            Ok(body) => {
                let text = serde_json::to_string_pretty(&body).unwrap_or_default();
                let _ = write!(command, " \\\n  --json {}", quoted(&text));
            }
            Err(_) => {
                let _ = write!(command, " \\\n  -H 'Content-Type: {}' \\\n  -d {}", request.media_type, quoted(body));
            }
        }
    }
    command
}

/// Quotes a string for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn derived(document: &Value, path: &str, operation: &Value) -> Request {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let body = (!schema.is_null()).then(|| example::body(document, schema).to_string());
    let required = |parameter: &&Value| parameter["in"] == "query" && parameter["required"] == true;
    let names =
        operation["parameters"].as_array().into_iter().flatten().filter(required).filter_map(|parameter| parameter["name"].as_str());
    let query = names.map(|name| format!("{name}=…")).collect::<Vec<String>>().join("&");
    let path = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
    Request { path, media_type: "application/json".to_owned(), body, has_access_token: false }
}
