//! Descriptions of fields and parameters that mean the same everywhere, by name: `glossary.txt`.
//!
//! The description of a field, or of the schema to which it refers, takes precedence. The glossary
//! makes many repeated descriptions unnecessary. The contract tests report fields that have no
//! description at all.

use std::collections::BTreeMap;

use serde_json::Value;

pub(super) const GLOSSARY: &str = include_str!("glossary.txt");

/// Adds missing descriptions to a document.
pub(super) fn describe(document: &mut Value) {
    let glossary: BTreeMap<&str, &str> = GLOSSARY.lines().filter_map(|line| line.split_once(" = ")).collect();
    let described = described_schemas(document);
    visit(document, &|name, field| {
        let is_described = |field: &Value| {
            field["description"].is_string() || field["$ref"].as_str().is_some_and(|one| described.contains(&one.to_owned()))
        };
        if !is_described(field)
            && let (Some(text), Some(field)) = (glossary.get(name), field.as_object_mut())
        {
            field.insert("description".to_owned(), Value::from(*text));
        }
    });
}

/// References to schemas that have a description.
fn described_schemas(document: &Value) -> Vec<String> {
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    schemas.filter(|(_, schema)| schema["description"].is_string()).map(|(name, _)| format!("#/components/schemas/{name}")).collect()
}

/// Calls `field` with the name and schema of each property, and with the name and value of each
/// parameter.
pub(super) fn visit(value: &mut Value, field: &impl Fn(&str, &mut Value)) {
    match value {
        Value::Object(object) => {
            for (name, property) in object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
                field(name, property);
            }
            for parameter in object.get_mut("parameters").and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(name) = parameter["name"].as_str().map(str::to_owned) {
                    field(&name, parameter);
                }
            }
            object.values_mut().for_each(|inner| visit(inner, field));
        }
        Value::Array(array) => array.iter_mut().for_each(|inner| visit(inner, field)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_at_the_field_wins() {
        let mut document = serde_json::json!({ "properties": { "id": { "description": "Mine" }, "team_id": {} } });
        describe(&mut document);
        assert_eq!(document["properties"]["id"]["description"], "Mine");
        assert_eq!(document["properties"]["team_id"]["description"], "Id of the team.");
    }
}
