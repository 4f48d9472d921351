//! The fields of a schema as a list, for developers who write bodies or parse responses.

use serde::Serialize;
use serde_json::Value;

/// The number of levels of nested objects that are shown.
const DEPTH: usize = 4;

/// A field or a parameter.
#[derive(Debug, Serialize, PartialEq)]
pub(super) struct Field {
    /// The name, preceded by the names of its parents, as in `user.id` and `items[].id`.
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) required: bool,
    pub(super) text: String,
    pub(super) constraints: String,
    /// The place of a parameter: path, query or header. Empty for a field.
    pub(super) place: String,
}

/// Resolves a schema that is a reference; returns any other schema unchanged.
pub(super) fn resolve<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema["$ref"].as_str().and_then(|reference| document.pointer(reference.trim_start_matches('#')));
    reference.unwrap_or(schema)
}

/// The fields of the schema of an object, including nested fields.
pub(super) fn fields(document: &Value, schema: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    collect(document, schema, "", DEPTH, &mut found);
    found
}

fn collect(document: &Value, schema: &Value, prefix: &str, depth: usize, found: &mut Vec<Field>) {
    let schema = resolve(document, schema);
    for part in parts(schema) {
        collect(document, part, prefix, depth, found);
    }
    let Some(properties) = schema["properties"].as_object() else { return };
    let required = |name: &str| schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name));
    let (first, rest): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| required(name));
    for (name, property) in first.into_iter().chain(rest) {
        let is_required = required(name);
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let field = field(document, &name, property, is_required);
        if !found.contains(&field) {
            found.push(field);
        }
        if depth > 0 {
            let (inner, suffix) = element(document, property);
            collect(document, inner, &format!("{name}{suffix}"), depth - 1, found);
        }
    }
}

/// The names of the fields of a schema that have no description, including nested fields.
pub fn undescribed(document: &Value, schema: &Value) -> Vec<String> {
    fields(document, schema).into_iter().filter(|field| field.text.is_empty()).map(|field| field.name).collect()
}

/// The schemas that a schema combines (`allOf`) or offers as alternatives (`oneOf`, `anyOf`).
fn parts(schema: &Value) -> impl Iterator<Item = &Value> {
    ["allOf", "oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten()
}

/// For an array, the schema of its elements and the suffix `[]` for the name; for any other schema,
/// the resolved schema and an empty suffix.
fn element<'a>(document: &'a Value, schema: &'a Value) -> (&'a Value, &'static str) {
    let schema = resolve(document, schema);
    if schema["items"].is_object() { (&schema["items"], "[]") } else { (schema, "") }
}

/// A field, as described by its schema.
pub(super) fn field(document: &Value, name: &str, schema: &Value, required: bool) -> Field {
    let resolved = resolve(document, schema);
    let text = schema["description"].as_str().or(resolved["description"].as_str()).unwrap_or_default();
    let kind = kind(document, schema, 3);
    Field { name: name.to_owned(), kind, required, text: text.to_owned(), constraints: constraints(resolved), place: String::new() }
}

fn kind(document: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(document, schema);
    if depth == 0 {
        return "object".to_owned();
    }
    if schema["items"].is_object() {
        return format!("array of {}", kind(document, &schema["items"], depth - 1));
    }
    let mut kinds: Vec<String> = match &schema["type"] {
        Value::String(kind) => vec![kind.clone()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => parts(schema).map(|part| kind(document, part, depth - 1)).collect(),
    };
    kinds.dedup();
    if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
}

fn constraints(schema: &Value) -> String {
    let mut found: Vec<String> = schema["format"].as_str().map(str::to_owned).into_iter().collect();
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
        found.push(format!("one of {}", values.join(", ")));
    }
    for (key, text) in [
        ("minLength", "at least {} characters"),
        ("maxLength", "at most {} characters"),
        ("minimum", "from {}"),
        ("maximum", "to {}"),
        ("minItems", "at least {} elements"),
        ("maxItems", "at most {} elements"),
        ("pattern", "matches {}"),
        ("default", "default {}"),
    ] {
        match &schema[key] {
            Value::Null => {}
            Value::String(value) => found.push(text.replace("{}", value)),
            value => found.push(text.replace("{}", &value.to_string())),
        }
    }
    found.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_nested_objects_are_qualified() {
        let document = json!({ "components": { "schemas": { "Session": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "string", "format": "uuid" }
        } } } } });
        let list = json!({ "type": "object", "properties": { "items": { "type": "array", "items": { "$ref": "#/components/schemas/Session" } } } });
        let found = fields(&document, &list);
        let names: Vec<(&str, &str, bool)> = found.iter().map(|field| (field.name.as_str(), field.kind.as_str(), field.required)).collect();
        assert_eq!(names, [("items", "array of object", false), ("items[].id", "string", true)]);
        assert_eq!(found[1].constraints, "uuid");
    }

    #[test]
    fn required_fields_come_first() {
        let schema = json!({ "type": "object", "required": ["z"], "properties": { "a": { "type": "string" }, "z": { "type": "string" } } });
        let found = fields(&json!({}), &schema);
        assert_eq!(found.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(), ["z", "a"]);
    }

    #[test]
    fn a_recursive_schema_is_cut_off() {
        let document = json!({ "components": { "schemas": { "Node": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/Node" } } } } } });
        assert_eq!(fields(&document, &json!({ "$ref": "#/components/schemas/Node" })).len(), DEPTH + 1);
    }
}
