//! The content of the pages of the reference, which is taken from the OpenAPI document.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::fields::{Field, field, fields, resolve};
use super::{curl, example};
use crate::openapi::catalog::{self, CodeEntry};
use crate::operations;

#[derive(Serialize)]
pub(super) struct Area {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) operations: Vec<Operation>,
}

#[derive(Serialize)]
pub(super) struct Operation {
    pub(super) id: String,
    method: String,
    path: String,
    summary: String,
    access: String,
    text: String,
    parameters: Vec<Field>,
    body: Vec<Field>,
    curl: String,
    answers: Vec<Answer>,
    /// The errors that the operation's route lists.
    errors: Vec<ErrorRow>,
    /// The errors that operations of this kind share (`openapi::common`).
    shared_errors: Vec<ErrorRow>,
    /// The text that is searched, in lowercase.
    words: String,
}

/// An operation in the index.
#[derive(Serialize)]
pub(super) struct Line<'a> {
    pub(super) id: &'a str,
    method: &'a str,
    path: &'a str,
    summary: &'a str,
    access: &'a str,
    pub(super) words: &'a str,
}

#[derive(Serialize)]
struct Answer {
    status: String,
    text: String,
    example: String,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct ErrorRow {
    code: String,
    status: String,
    text: String,
}

/// A header for authentication, which contains a credential, the access level or the project.
#[derive(Serialize)]
pub(super) struct Scheme {
    header: String,
    text: String,
}

impl Operation {
    pub(super) fn line(&self) -> Line<'_> {
        let Self { id, method, path, summary, access, words, .. } = self;
        Line { id, method, path, summary, access, words }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn base(document: &Value) -> String {
    text(&document["servers"][0]["url"])
}

pub(super) fn schemes(document: &Value) -> Vec<Scheme> {
    let schemes = document["components"]["securitySchemes"].as_object().into_iter().flat_map(serde_json::Map::values);
    schemes.map(|scheme| Scheme { header: text(&scheme["name"]), text: text(&scheme["description"]) }).collect()
}

/// The areas in the order of the document, with their operations, sorted by path.
pub(super) fn areas(document: &Value) -> Vec<Area> {
    let codes: BTreeMap<&str, CodeEntry> = catalog::entries().into_iter().map(|entry| (entry.code, entry)).collect();
    let own: BTreeMap<&str, Vec<&str>> = operations::all().iter().map(|one| (one.route.name, one.route.codes().collect())).collect();
    let mut found: BTreeMap<&str, Vec<Operation>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten().filter(|(_, one)| one["operationId"].is_string()) {
            let own = operation["operationId"].as_str().and_then(|id| own.get(id)).map(Vec::as_slice).unwrap_or_default();
            let shown = shown(document, method, path, operation, Errors { codes: &codes, own });
            found.entry(operation["tags"][0].as_str().unwrap_or_default()).or_default().push(shown);
        }
    }
    let areas = list(&document["tags"]).iter().filter_map(|tag| {
        let operations = found.remove(tag["name"].as_str()?)?;
        Some(Area { name: text(&tag["name"]), text: text(&tag["description"]), operations })
    });
    areas.collect()
}

/// The catalog of all codes, and the codes that the operation's route lists.
struct Errors<'a> {
    codes: &'a BTreeMap<&'a str, CodeEntry>,
    own: &'a [&'a str],
}

fn shown(document: &Value, method: &str, path: &str, operation: &Value, known: Errors<'_>) -> Operation {
    let base = operation["servers"][0]["url"].as_str().map_or_else(|| base(document), str::to_owned);
    let method = method.to_uppercase();
    let (errors, shared_errors): (Vec<ErrorRow>, Vec<ErrorRow>) =
        failures(operation, known.codes).partition(|failure| known.own.contains(&failure.code.as_str()));
    let (id, summary) = (text(&operation["operationId"]), text(&operation["summary"]));
    let codes: Vec<&str> = errors.iter().map(|failure| failure.code.as_str()).collect();
    let words = format!("{id} {method} {path} {summary} {} {}", operation["x-access"].as_str().unwrap_or_default(), codes.join(" "));
    Operation {
        access: text(&operation["x-access"]),
        text: text(&operation["description"]),
        parameters: list(&operation["parameters"]).iter().map(|parameter| self::parameter(document, parameter)).collect(),
        body: fields(document, body_schema(operation)),
        curl: curl::command(document, &base, &method, path, operation),
        answers: answers(document, operation),
        errors,
        shared_errors,
        words: words.to_lowercase(),
        path: path.to_owned(),
        id,
        summary,
        method,
    }
}

fn body_schema(operation: &Value) -> &Value {
    &operation["requestBody"]["content"]["application/json"]["schema"]
}

fn parameter(document: &Value, parameter: &Value) -> Field {
    let (name, schema) = (text(&parameter["name"]), resolve(document, &parameter["schema"]));
    let field = field(document, &name, schema, parameter["required"] == true);
    let text = Some(text(&parameter["description"])).filter(|text| !text.is_empty()).unwrap_or(field.text);
    Field { place: format!("in the {}", parameter["in"].as_str().unwrap_or_default()), text, ..field }
}

/// The error responses, one for each code.
fn failures<'a>(operation: &'a Value, codes: &'a BTreeMap<&str, CodeEntry>) -> impl Iterator<Item = ErrorRow> {
    operation["responses"].as_object().into_iter().flatten().flat_map(|(status, response)| {
        list(&response["x-codes"]).iter().filter_map(Value::as_str).map(|code| ErrorRow {
            code: code.to_owned(),
            status: status.clone(),
            text: codes.get(code).map(|entry| entry.text.clone()).unwrap_or_default(),
        })
    })
}

/// The responses without an error code.
fn answers(document: &Value, operation: &Value) -> Vec<Answer> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let answer = |(status, response): (&String, &Value)| {
        let schema = &response["content"]["application/json"]["schema"];
        let example = if schema.is_null() { String::new() } else { pretty(&example::answer(document, schema)) };
        Answer { status: status.clone(), text: text(&response["description"]), example, fields: fields(document, schema) }
    };
    responses.filter(|(_, response)| list(&response["x-codes"]).is_empty()).map(answer).collect()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
