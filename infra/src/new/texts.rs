//! The texts of the files of a new operation, rendered from the templates in `infra/new/`.

use api::http::Verb;
use api::http::version::gateway_path;
use serde::Serialize;

use super::request::{BODY, NewOperation};
use crate::render::{Source, render_with};

const OPERATION: Source = ("operation.rs", include_str!("../../new/operation.rs.j2"));
const CONTENT: Source = ("content.rs", include_str!("../../new/content.rs.j2"));
const LAMBDA: Source = ("lambda.rs", include_str!("../../new/lambda.rs.j2"));
const TEST: Source = ("test.rs", include_str!("../../new/test.rs.j2"));
const EVENT: Source = ("event", include_str!("../../new/event.j2"));

/// Example ids for path parameters; events of other operations use the same ids.
const KNOWN: [(&str, &str); 2] = [("user_id", "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81"), ("team_id", "8d3c1b0a-6f2e-4a59-9c7d-1e2f3a4b5c6d")];

#[derive(Serialize)]
struct Context<'a> {
    area: &'a str,
    /// The name of the operation, which begins with its area.
    name: String,
    module: String,
    /// The prefix of the names of the operation's types.
    r#type: String,
    method: &'static str,
    path: &'a str,
    summary: &'a str,
    /// The summary with a lowercase initial, for use within a sentence.
    brief: String,
    parameters: Vec<Parameter<'a>>,
    /// The field of the request body, if requests with this method have a body.
    body: Option<&'static str>,
    /// The path of the example request.
    example: String,
    route_key: String,
    /// The path parameters as API Gateway passes them, including the API's version.
    path_parameters: Vec<(&'a str, String)>,
    /// The body of the example request. `quoted` is this body as a JSON string.
    sent: String,
    quoted: String,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    text: String,
    example: String,
}

impl<'a> Parameter<'a> {
    fn of(name: &'a str) -> Self {
        let text = match name.strip_suffix("_id") {
            Some(named) => format!("Id of the {}.", named.replace('_', " ")),
            None => format!("The {} in the path.", name.replace('_', " ")),
        };
        let known = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Self { name, text, example: known.unwrap_or_else(|| format!("some-{}", name.replace('_', "-"))) }
    }
}

impl<'a> Context<'a> {
    fn of(operation: &'a NewOperation) -> Self {
        let NewOperation { area, name, verb, path, summary } = operation;
        let parameters: Vec<Parameter<'a>> = operation.parameters().map(Parameter::of).collect();
        let example = parameters.iter().fold(path.clone(), |path, one| path.replace(&format!("{{{}}}", one.name), &one.example));
        let gateway_path = gateway_path(path);
        let version = gateway_path.contains("{version}").then(|| ("version", "v1".to_owned()));
        let sent = serde_json::json!({ BODY: "Hello" }).to_string();
        let (first, rest) = summary.split_at(summary.chars().next().map_or(0, char::len_utf8));
        Self {
            area,
            name: format!("{area}-{name}"),
            module: operation.module(),
            r#type: name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect(),
            method: verb.name(),
            path,
            summary,
            brief: first.to_lowercase() + rest,
            body: matches!(verb, Verb::Post | Verb::Put | Verb::Patch).then_some(BODY),
            example,
            route_key: format!("{} {gateway_path}", verb.name()),
            path_parameters: version.into_iter().chain(parameters.iter().map(|one| (one.name, one.example.clone()))).collect(),
            quoted: serde_json::Value::from(sent.as_str()).to_string(),
            sent,
            parameters,
        }
    }
}

/// The texts of the operation, its Lambda, its event and its test.
pub(super) fn all(operation: &NewOperation) -> anyhow::Result<[String; 4]> {
    let context = Context::of(operation);
    let source = if operation.area == "content" { CONTENT } else { OPERATION };
    let render = |source| render_with(source, &[], &context);
    Ok([render(source)?, render(LAMBDA)?, render(EVENT)?, render(TEST)?])
}
