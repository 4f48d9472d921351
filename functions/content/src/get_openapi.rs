//! `GET /openapi.json`: returns the OpenAPI 3.1 description of all operations.
//!
//! `infra render` generates the description from the routes and the types of all handlers, so this
//! function does not have to link the handlers.

use api::content::{Problem, ServedDocument};
use api::http::Route;
use axum::extract::State;
use flows::App;
use site::catalog;

pub const ROUTE: Route = Route::get("content-get-openapi", "/openapi.json")
    .content()
    .media(&["application/json"])
    .summary("Returns the description of all operations, in OpenAPI 3.1");

/// The OpenAPI document of a service at [`catalog::API_URL`] and [`catalog::SITE_URL`].
const DOCUMENT: &str = include_str!("openapi.json");

pub async fn handle(State(app): State<App>) -> Result<ServedDocument, Problem> {
    Ok(catalog::openapi(DOCUMENT, &app.settings.site_url, &app.settings.api_url).into())
}
