//! `GET /docs/api`: returns a page that lists all operations of the API. On a gateway, this path
//! shows an API reference with fields and examples. The page is rendered without reading the table,
//! so it shows the site's host instead of the site's name.

use api::content::{Problem, ServedDocument};
use api::http::Route;
use axum::extract::State;
use flows::App;
use model::content::Site;
use site::page;

pub const ROUTE: Route = Route::get("content-get-api-reference", "/docs/api")
    .content()
    .media(&["text/html"])
    .summary("Returns a page with all operations of the API");

/// The list of all operations, written by `infra render`.
const OPERATIONS: &str = include_str!("../../../docs/all-operations.md");

pub async fn handle(State(app): State<App>) -> Result<ServedDocument, Problem> {
    let site_url = &app.settings.site_url;
    Ok(page::reference(&Site::unpublished(site_url), OPERATIONS, site_url).into())
}
