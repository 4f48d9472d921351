//! The OpenAPI 3.1 document. The document describes every operation by its route, the types of its
//! handler, and the errors that it may return.
//!
//! Parameters, bodies and responses come from the types; [`common`] adds the errors that operations
//! share. No part of the document is written by hand for a single operation.

pub mod catalog;
mod closed;
pub mod common;
mod errors;
mod glossary;
mod operation;
mod schemas;
mod security;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use api::http::Verb;
use schemas::Schemas;
use serde_json::Value;
use utoipa::openapi::info::{InfoBuilder, LicenseBuilder};
use utoipa::openapi::path::{HttpMethod, PathsBuilder};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, OpenApi, OpenApiBuilder, PathItem};

use crate::operation::Operation;
use crate::operations;

const DESCRIPTION: &str = "Two APIs of one service: the content API (apps, posts, the site; no credentials) and the product API \
    (users, sign-in, sessions, emails, the project itself).\n\nCallers of the product API authenticate by headers; \
    see the security schemes. Every header `X-Service-…` may also be written `X-Stack-…` or `X-Hexclave-…`.";

/// The names and descriptions of the areas, in the order in which the document lists them.
const AREAS: [(&str, &str); 10] = [
    ("content", "Public content: apps, posts, the site"),
    ("auth", "Signing up, signing in, sessions, tokens, OAuth"),
    ("users", "Users and their data"),
    ("teams", "Teams, their members, permissions and invitations"),
    ("emails", "Emails: outbox, templates, themes and drafts"),
    ("projects", "The project and its configuration"),
    ("keys", "API keys of users and teams"),
    ("openid", "Signing in to other applications: OAuth clients, authorization, grants"),
    ("webhooks", "Endpoints that receive events, and the deliveries to them"),
    ("edge", "The service itself"),
];

/// The OpenAPI document of both APIs, which have the same base URL.
pub fn document(api_url: &str) -> OpenApi {
    document_of(&operations::of_apis(), api_url, api_url)
}

/// The OpenAPI document as JSON, including the descriptions of the glossary. The two APIs may have
/// different base URLs.
pub fn json(api_url: &str, site_url: &str) -> serde_json::Result<Value> {
    let mut document = serde_json::to_value(document_of(&operations::of_apis(), api_url, site_url))?;
    glossary::describe(&mut document);
    Ok(document)
}

/// The OpenAPI document of some operations.
pub fn document_of(operations: &[Operation], api_url: &str, site_url: &str) -> OpenApi {
    let mut schemas = Schemas::of(operations);
    let mut items: BTreeMap<&str, PathItem> = BTreeMap::new();
    for operation in operations {
        let described = operation::describe(operation, &schemas, (api_url != site_url).then_some(site_url));
        let item = PathItem::new(method(operation.route.verb), described);
        items.entry(operation.route.path).or_default().merge_operations(item);
    }
    schemas.add_errors();
    let components = ComponentsBuilder::new().schemas_from_iter(schemas.into_components());
    let components =
        security::SCHEMES.iter().fold(components, |components, scheme| components.security_scheme(scheme.name, scheme.build()));
    let paths = items.into_iter().fold(PathsBuilder::new(), |paths, (path, item)| paths.path(path, item));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("Gatelet")
                .version("1.0.0")
                .description(Some(DESCRIPTION))
                .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build()))
                .build(),
        )
        .servers(Some([ServerBuilder::new().url(api_url).build()]))
        .tags(Some(AREAS.map(|(name, description)| TagBuilder::new().name(name).description(Some(description)).build())))
        .paths(paths.build())
        .components(Some(components.build()))
        .build()
}

/// The document as text, with a line for each path and each schema, so that a change affects few
/// lines.
pub fn lines(document: &Value) -> String {
    let mut text = String::new();
    write_lines(document, &["paths", "components", "schemas"], &mut text);
    text + "\n"
}

/// Writes an object with a line for each field, and does the same with the values of the fields
/// named in `divided`.
fn write_lines(value: &Value, divided: &[&str], text: &mut String) {
    let Value::Object(object) = value else { return text.push_str(&value.to_string()) };
    text.push('{');
    for (number, (name, value)) in object.iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push_str(": ");
        if divided.contains(&name.as_str()) { write_lines(value, divided, text) } else { text.push_str(&value.to_string()) }
    }
    text.push_str("\n}");
}

/// The names of inner types that are defined differently in different operations, which would make
/// the document wrong.
pub fn clashes(operations: &[Operation]) -> BTreeSet<String> {
    Schemas::of(operations).clashes().clone()
}

fn method(verb: Verb) -> HttpMethod {
    match verb {
        Verb::Get => HttpMethod::Get,
        Verb::Post => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
        Verb::Patch => HttpMethod::Patch,
        Verb::Delete => HttpMethod::Delete,
    }
}
