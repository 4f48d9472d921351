//! The bodies of errors: a schema for each of the two APIs, and a schema for operations with OAuth
//! errors. The schemas list every code of the catalogs.

use std::fmt::Write as _;

use api::content::Problem;
use api::http::{Interface, Route};
use api::product::oauth_error::OauthErrorCode;
use errors::KnownError;
use strum::VariantNames as _;
use utoipa::openapi::schema::{AdditionalProperties, Type};
use utoipa::openapi::{KnownFormat, ObjectBuilder, Ref, RefOr, Schema, SchemaFormat};

use super::catalog;

/// The name of the schema for errors of the content API.
pub(super) const CONTENT: &str = "ContentError";
/// The name of the schema for errors of the product API.
pub(super) const PRODUCT: &str = "ProductError";
/// The name of the schema for errors of OAuth operations (`BodyRule::has_oauth_errors`).
pub(super) const OAUTH: &str = "OauthError";
const CODE: &str = "ProductErrorCode";
/// The description of `details`. The schema does not name any properties, because generated clients
/// would drop all other properties.
const DETAILS: &str = "The details of the error. Their fields depend on the code; see the list of codes. Those of `SCHEMA_ERROR` \
                       have `problems`, a list of objects with two strings: `path`, the place of a wrong value, such as \
                       `body.primary_email`, and `problem`, what is wrong with it, such as `is required`.";

pub(super) fn schemas() -> [(String, RefOr<Schema>); 4] {
    let schemas = [(CONTENT, content()), (PRODUCT, product()), (OAUTH, oauth()), (CODE, code())];
    schemas.map(|(name, schema)| (name.to_owned(), schema.into()))
}

/// The name of the schema for the errors of an operation.
pub(super) fn name(route: &Route) -> &'static str {
    match route.interface {
        Interface::Content | Interface::Agents | Interface::Pages => CONTENT,
        Interface::Product if route.body.has_oauth_errors() => OAUTH,
        Interface::Product => PRODUCT,
    }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn url() -> ObjectBuilder {
    text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Uri)))
}

fn content() -> Schema {
    let codes = Problem::ALL.map(Problem::code);
    let error = ["code", "message", "hint", "documentation_url"].into_iter().fold(ObjectBuilder::new(), |error, name| {
        let field = match name {
            "code" => text().enum_values(Some(codes)),
            "documentation_url" => url(),
            _ => text(),
        };
        error.property(name, field).required(name)
    });
    let error = error.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
    let whole = ObjectBuilder::new().property("error", error).required("error").description(Some("An error of the content API."));
    Schema::Object(whole.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))).build())
}

fn product() -> Schema {
    let error = text().description(Some("A message for developers; it may change."));
    Schema::Object(with_code(error, "An error of the product API.").build())
}

fn oauth() -> Schema {
    let error = text().enum_values(Some(OauthErrorCode::VARIANTS.iter().copied()));
    let sentence = text().description(Some("A message for developers; it may change."));
    let whole = with_code(error, "An OAuth error (RFC 6749 §5.2) with the additional fields of a product API error, such as `code`.");
    Schema::Object(whole.property("error_description", sentence).required("error_description").build())
}

fn with_code(error: ObjectBuilder, description: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .description(Some(description))
        .property("code", Ref::from_schema_name(CODE))
        .required("code")
        .property("error", error)
        .required("error")
        .property("details", ObjectBuilder::new().description(Some(DETAILS)))
        .property("hint", text().description(Some("What the developer who receives the error can do.")))
        .required("hint")
        .property("documentation_url", url().description(Some("The page that explains the code.")))
        .required("documentation_url")
        .property("request_id", text().description(Some("Id of the request in the logs, for errors with a status of 500 and above.")))
}

/// The schema of a code: an enumeration whose description contains the status of each code and the
/// fields of its details. The codes are sorted by name, so that rows can be moved within the
/// source.
fn code() -> Schema {
    let mut description = "| code | status | details |\n|---|---|---|\n".to_owned();
    let mut entries = catalog::entries();
    entries.retain(|entry| KnownError::CODES.contains(&entry.code));
    entries.sort_by_key(|entry| entry.code);
    for entry in &entries {
        let details: Vec<String> = entry.details.iter().map(|field| format!("`{field}`")).collect();
        let _ = writeln!(description, "| `{}` | {} | {} |", entry.code, entry.status, details.join(", "));
    }
    Schema::Object(text().enum_values(Some(entries.iter().map(|entry| entry.code))).description(Some(description)).build())
}
