//! Example values for schemas, with the right type and plausible for the name of the field.

use serde_json::{Map, Value, json};

use super::fields::resolve;

/// The maximum depth of nested objects and lists.
const DEPTH: usize = 6;

/// A request body with its required fields.
pub(super) fn body(document: &Value, schema: &Value) -> Value {
    Maker { document, is_whole: false }.value(schema, "", DEPTH)
}

/// A response with all of its fields.
pub fn answer(document: &Value, schema: &Value) -> Value {
    Maker { document, is_whole: true }.value(schema, "", DEPTH)
}

struct Maker<'a> {
    document: &'a Value,
    /// Whether optional fields are included.
    is_whole: bool,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let schema = resolve(self.document, schema);
        let given = [&schema["example"], &schema["examples"][0], &schema["const"], &schema["enum"][0], &schema["default"]];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return given.clone();
        }
        match (kind(schema), depth) {
            (_, 0) | ("null", _) => Value::Null,
            ("boolean", _) => Value::Bool(true),
            ("integer" | "number", _) => number(schema, name),
            ("array", _) => self.list(&schema["items"], name, depth),
            ("string", _) => text(schema, name),
            _ => Value::Object(self.object(schema, name, depth)),
        }
    }

    /// A list of one element; empty if the element would be `null`.
    fn list(&self, items: &Value, name: &str, depth: usize) -> Value {
        match self.value(items, name, depth - 1) {
            Value::Null => json!([]),
            item => json!([item]),
        }
    }

    fn object(&self, schema: &Value, name: &str, depth: usize) -> Map<String, Value> {
        let mut found = Map::new();
        for part in schema["allOf"].as_array().into_iter().flatten().chain(chosen(schema)) {
            if let Value::Object(part) = self.value(part, name, depth - 1) {
                found.extend(part);
            }
        }
        let required = |name: &str| schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name));
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if self.is_whole || required(name) {
                found.insert(name.clone(), self.value(property, name, depth - 1));
            }
        }
        found
    }
}

/// The first alternative of a `oneOf` or `anyOf` that is not `null`.
fn chosen(schema: &Value) -> Option<&Value> {
    let choices = schema["oneOf"].as_array().or(schema["anyOf"].as_array())?;
    choices.iter().find(|choice| choice["type"] != "null")
}

fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or("null"),
        _ if schema["items"].is_object() => "array",
        // A choice between schemas has the kind of the first one that is not `null`, but counts as
        // an object if that schema is an object or a reference.
        _ => match chosen(schema).map(kind) {
            Some(kind) if kind != "object" && chosen(schema).is_some_and(|choice| choice["$ref"].is_null()) => kind,
            _ => "object",
        },
    }
}

/// The time in examples, in milliseconds: 10 March 2026, 12:00 UTC.
const MILLIS: i64 = 1_773_144_000_000;

fn number(schema: &Value, name: &str) -> Value {
    match name {
        _ if name.contains("millis") || name.ends_with("_at") => json!(MILLIS),
        "latitude" => json!(59.3293),
        "longitude" => json!(18.0686),
        "expires_in" => json!(600),
        _ => schema.get("minimum").filter(|minimum| **minimum != json!(0)).cloned().unwrap_or_else(|| json!(1)),
    }
}

const TOKEN: &str = "0f9b6c1e2f4b4d7a8a345b9f0c6d7e81018f0b6c0d1e7a2b8c234a8e9f5b6c70xq4hb1mz8tk5wr0ydn3gjp6sfe";

fn text(schema: &Value, name: &str) -> Value {
    let by_format = match schema["format"].as_str() {
        Some("uuid") => Some("0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81"),
        Some("uri" | "url") => Some("https://app.example.com/"),
        Some("email") => Some("ada@example.com"),
        Some("date-time") => Some("2026-03-10T12:00:00Z"),
        Some("ipv4" | "ip") => Some("203.0.113.7"),
        _ => None,
    };
    let by_name = || match name {
        "access_token" => "eyJhbGciOiJFUzI1NiIs…",
        "refresh_token" | "code" | "nonce" | "attempt_code" => TOKEN,
        "token_type" => "Bearer",
        "status" => "ok",
        "ip" => "203.0.113.7",
        "countryCode" | "country_code" => "SE",
        "regionCode" => "AB",
        "cityName" => "Stockholm",
        "tzIdentifier" => "Europe/Stockholm",
        "location" => "https://github.com/login/oauth/authorize?client_id=…",
        "next_cursor" => "eyJhZnRlciI6Ij…",
        "timestamp" => "2026-03-10T12:00:00Z",
        "publishable_client_key" => "pck_…",
        "secret_server_key" => "ssk_…",
        "super_secret_admin_key" => "sak_…",
        "subject" | "subject_source" => "Welcome",
        "html" | "html_source" | "tsx_source" => "<p>Hello Ada</p>",
        "text" | "text_source" => "Hello Ada",
        "slug" => "hello",
        "display_name" | "displayName" | "name" => "Ada Lovelace",
        "description" => "A short description",
        "publishedAt" => "2026-03-10",
        _ if name == "id" || name.ends_with("_id") => "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81",
        _ if name.contains("email") || name == "value" => "ada@example.com",
        _ if name.contains("url") => "https://app.example.com/",
        _ => "…",
    };
    Value::from(by_format.unwrap_or_else(by_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_all_fields_and_a_body_the_required_ones() {
        let document = json!({ "components": { "schemas": { "User": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "string", "format": "uuid" },
            "primary_email": { "type": ["string", "null"] },
            "team": { "oneOf": [{ "type": "null" }, { "type": "object", "properties": { "is_mine": { "type": "boolean" } } }] },
        } } } } });
        let schema = json!({ "$ref": "#/components/schemas/User" });
        let id = "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81";
        assert_eq!(body(&document, &schema), json!({ "id": id }));
        assert_eq!(answer(&document, &schema), json!({ "id": id, "primary_email": "ada@example.com", "team": { "is_mine": true } }));
    }
}
