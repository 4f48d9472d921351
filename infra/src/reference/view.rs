//! What the page shows, taken from the API document.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::curl;
use super::fields::{Field, field, fields, resolve};
use crate::openapi::catalog::{self, CodeEntry};

#[derive(Serialize)]
pub(super) struct Page {
    title: String,
    version: String,
    base: String,
    areas: Vec<Area>,
    schemes: Vec<Scheme>,
    codes: Vec<CodeEntry>,
}

#[derive(Serialize)]
struct Area {
    name: String,
    text: String,
    operations: Vec<Shown>,
}

#[derive(Serialize)]
struct Shown {
    id: String,
    method: String,
    path: String,
    summary: String,
    access: String,
    text: String,
    parameters: Vec<Parameter>,
    has_body: bool,
    body: Vec<Field>,
    answers: Vec<Answer>,
    errors: Vec<Answer>,
    curl: String,
}

#[derive(Serialize)]
struct Parameter {
    place: String,
    field: Field,
}

#[derive(Serialize)]
struct Answer {
    status: String,
    text: String,
    fields: Vec<Field>,
    codes: Vec<String>,
}

#[derive(Serialize)]
struct Scheme {
    header: String,
    text: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

impl Page {
    pub(super) fn of(document: &Value) -> Self {
        let base = text(&document["servers"][0]["url"]);
        let mut operations = operations(document, &base);
        let areas = list(&document["tags"]).iter().filter_map(|tag| {
            let operations = operations.remove(tag["name"].as_str()?)?;
            Some(Area { name: text(&tag["name"]), text: text(&tag["description"]), operations })
        });
        let areas = areas.collect();
        let schemes = document["components"]["securitySchemes"].as_object().into_iter().flat_map(serde_json::Map::values);
        let schemes = schemes.map(|scheme| Scheme { header: text(&scheme["name"]), text: text(&scheme["description"]) });
        Self {
            title: text(&document["info"]["title"]),
            version: text(&document["info"]["version"]),
            areas,
            schemes: schemes.collect(),
            codes: catalog::entries(),
            base,
        }
    }
}

/// Every operation, by its area.
fn operations<'a>(document: &'a Value, base: &str) -> BTreeMap<&'a str, Vec<Shown>> {
    let mut found: BTreeMap<&str, Vec<Shown>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten().filter(|(_, one)| one["operationId"].is_string()) {
            let area = operation["tags"][0].as_str().unwrap_or_default();
            found.entry(area).or_default().push(shown(document, base, method, path, operation));
        }
    }
    found
}

fn shown(document: &Value, base: &str, method: &str, path: &str, operation: &Value) -> Shown {
    let base = operation["servers"][0]["url"].as_str().unwrap_or(base);
    let method = method.to_uppercase();
    let (errors, answers) = answers(document, operation).into_iter().partition(|answer| !answer.codes.is_empty());
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    Shown {
        id: text(&operation["operationId"]),
        summary: text(&operation["summary"]),
        access: text(&operation["x-access"]),
        text: text(&operation["description"]),
        parameters: list(&operation["parameters"]).iter().map(|parameter| self::parameter(document, parameter)).collect(),
        has_body: !body.is_null(),
        body: fields(document, body),
        answers,
        errors,
        curl: curl::example(document, base, &method, path, operation),
        path: path.to_owned(),
        method,
    }
}

fn parameter(document: &Value, parameter: &Value) -> Parameter {
    let (name, schema) = (text(&parameter["name"]), resolve(document, &parameter["schema"]));
    Parameter { place: text(&parameter["in"]), field: field(document, &name, schema, parameter["required"] == true) }
}

fn answers(document: &Value, operation: &Value) -> Vec<Answer> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let answer = |(status, response): (&String, &Value)| {
        let codes: Vec<String> = list(&response["x-codes"]).iter().map(text).collect();
        let schema = &response["content"]["application/json"]["schema"];
        // The form of errors is told once.
        let fields = if codes.is_empty() { fields(document, schema) } else { Vec::new() };
        Answer { status: status.clone(), text: text(&response["description"]), fields, codes }
    };
    responses.map(answer).collect()
}
