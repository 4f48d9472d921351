//! Tests the document, mostly with sample operations of different kinds.

use std::cell::RefCell;
use std::collections::BTreeSet;

use api::content::Data;
use api::http::describe::SchemaParts;
use api::http::{BodyRule, Describe, Description, Json, Route};
use api::product::{Access, Client, Input, Server};
use axum::extract::State;
use axum::response::Response;
use errors::ErrorCode;
use flows::App;
use http::HeaderMap;
use model::content;
use model::outbox::patch::OutboxPatch;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{document_of, glossary};
use crate::operation::Operation;

#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Path {
    /// Id of the email.
    id: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct LooseBody {
    name: Option<String>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Page {
    cursor: Option<String>,
    limit: u16,
}

#[derive(serde::Serialize, ToSchema)]
struct EditedEmail {
    id: String,
}

/// An operation whose two arguments and response have these types.
fn operation<A: Describe, B: Describe, R: Describe>(route: Route) -> Operation {
    let mut description = Description::default();
    A::describe(&mut description);
    B::describe(&mut description);
    R::describe(&mut description);
    Operation { route, description }
}

fn document() -> Value {
    type Patch = Input<OutboxPatch, Page, Path>;
    let errors = &[ErrorCode::EmailNotFound, ErrorCode::PreconditionFailed];
    let patch = Route::patch("emails-patch", "/api/v1/emails/outbox/{id}").summary("Edits an email").errors(errors);
    let app = Route::get("content-app", "/api/v1/apps/{app_id}").summary("Gives an app").content().problems(&["app_not_found"]);
    let operations = vec![
        operation::<Access<Server>, Patch, Json<EditedEmail>>(patch),
        operation::<Access<Client>, HeaderMap, Response>(Route::get("auth-go", "/api/v1/auth/go/{provider_id}").summary("Goes")),
        operation::<State<App>, HeaderMap, Json<Data<Vec<content::App>>>>(
            Route::get("content-apps", "/api/v1/apps").summary("Lists apps").content(),
        ),
        operation::<State<App>, HeaderMap, Json<Data<content::App>>>(app),
        operation::<State<App>, Input<LooseBody>, Response>(
            Route::post("edge-loose", "/api/v1/loose").summary("Takes").body(BodyRule::Lenient),
        ),
        operation::<State<App>, Input<LooseBody>, Response>(
            Route::post("auth-token", "/api/v1/token").summary("Exchanges").body(BodyRule::OauthForm),
        ),
    ];
    serde_json::to_value(document_of(&operations, "https://api.example.com", "https://example.com")).unwrap()
}

#[test]
fn parameters_come_from_the_types_and_from_the_path() {
    let document = document();
    let parameters = document["paths"]["/api/v1/emails/outbox/{id}"]["patch"]["parameters"].as_array().unwrap();
    let named: Vec<(&str, &str, bool)> = parameters
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["in"].as_str().unwrap(), one["required"].as_bool().unwrap()))
        .collect();
    assert_eq!(named, [("id", "path", true), ("limit", "query", true), ("cursor", "query", false)]);
    assert_eq!(parameters[0]["description"], "Id of the email.");
    assert_eq!(document["paths"]["/api/v1/auth/go/{provider_id}"]["get"]["parameters"][0]["name"], "provider_id");
}

#[test]
fn errors_are_grouped_by_status() {
    let document = document();
    let answers = &document["paths"]["/api/v1/emails/outbox/{id}"]["patch"]["responses"];
    assert_eq!(answers["404"]["x-codes"], json!(["EMAIL_NOT_FOUND"]));
    assert_eq!(answers["412"]["x-codes"], json!(["PRECONDITION_FAILED"]));
    assert_eq!(answers["403"]["x-codes"], json!(["INSUFFICIENT_ACCESS_TYPE", "RESTRICTED_USER_NOT_ALLOWED"]));
    assert!(answers["400"]["x-codes"].as_array().unwrap().contains(&json!("SCHEMA_ERROR")));
    assert_eq!(answers["200"]["content"]["application/json"]["schema"]["$ref"], "#/components/schemas/EditedEmail");
}

#[test]
fn a_level_requires_its_key_or_that_of_a_higher_level() {
    let document = document();
    let ways = &document["paths"]["/api/v1/emails/outbox/{id}"]["patch"]["security"];
    let server = json!({ "accessType": [], "projectId": [], "secretServerKey": [] });
    let admin = json!({ "accessType": [], "projectId": [], "superSecretAdminKey": [] });
    assert_eq!(*ways, json!([server, admin]));
    assert_eq!(document["paths"]["/api/v1/apps"]["get"]["security"], json!([]));
}

#[test]
fn envelopes_of_the_same_name_are_written_inline() {
    let document = document();
    let schema = |path: &str| document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"].clone();
    assert_eq!(schema("/api/v1/apps")["properties"]["data"]["type"], "array");
    assert_eq!(schema("/api/v1/apps/{app_id}")["properties"]["data"]["type"], "object");
    assert!(document["components"]["schemas"]["Data"].is_null());
}

#[test]
fn bodies_and_public_content_allow_no_additional_fields() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["OutboxPatch"]["additionalProperties"], false);
    assert_eq!(
        document["paths"]["/api/v1/apps"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["additionalProperties"],
        false
    );
    assert!(schemas["EditedEmail"]["additionalProperties"].is_null());
    assert!(schemas["LooseBody"]["properties"]["name"].is_object());
    assert!(schemas["LooseBody"]["additionalProperties"].is_null());
}

#[test]
fn the_token_endpoint_accepts_forms_and_has_oauth_errors() {
    let document = document();
    let (token, loose) = (&document["paths"]["/api/v1/token"]["post"], &document["paths"]["/api/v1/loose"]["post"]);
    let form = &token["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"];
    assert_eq!(*form, token["requestBody"]["content"]["application/json"]["schema"]);
    assert!(form["$ref"].is_string() && loose["requestBody"]["content"]["application/x-www-form-urlencoded"].is_null());
    let error = |operation: &Value| operation["responses"]["400"]["content"]["application/json"]["schema"]["$ref"].clone();
    assert_eq!((error(token), error(loose)), (json!("#/components/schemas/OauthError"), json!("#/components/schemas/ProductError")));
    let names = &document["components"]["schemas"]["OauthError"]["properties"]["error"]["enum"];
    assert!(names.as_array().unwrap().contains(&json!("invalid_grant")));
}

#[test]
fn public_content_has_the_base_url_of_the_site() {
    let document = document();
    assert_eq!(document["servers"][0]["url"], "https://api.example.com");
    assert_eq!(document["paths"]["/api/v1/apps"]["get"]["servers"][0]["url"], "https://example.com");
    assert!(document["paths"]["/api/v1/auth/go/{provider_id}"]["get"]["servers"].is_null());
}

#[test]
fn the_contents_of_an_envelope_are_described_too() {
    let site = SchemaParts::of::<Data<content::Site>>();
    let names: Vec<&str> = site.components.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"Resources"), "{names:?}");
}

#[test]
fn the_glossary_is_sorted_and_every_entry_is_used() {
    let names: Vec<&str> = glossary::GLOSSARY.lines().map(|line| line.split_once(" = ").expect(line).0).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable_by_key(|name| name.as_bytes());
    sorted.dedup();
    assert_eq!(names, sorted);
    let mut document = super::json("https://api.example.com", "https://api.example.com").unwrap();
    let found = RefCell::new(BTreeSet::new());
    glossary::visit(&mut document, &|name, _| {
        found.borrow_mut().insert(name.to_owned());
    });
    let unused: Vec<&str> = names.into_iter().filter(|name| !found.borrow().contains(*name)).collect();
    assert!(unused.is_empty(), "no field has these names: {unused:?}");
}
