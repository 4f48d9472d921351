//! `GET /docs/api`: returns a page with all operations of the API. A gateway has a reference with
//! their fields and examples at this path.

use api::content::{Problem, Served};
use api::http::{Route, TableAction};
use axum::extract::State;
use flows::App;
use site::page;

use crate::published::site;

pub const ROUTE: Route = Route::get("content-get-api-reference", "/docs/api")
    .content()
    .summary("Returns a page with all operations of the API")
    .table(&[TableAction::GetItem]);

/// The list of all operations, which `infra render` writes.
const OPERATIONS: &str = include_str!("../../../docs/all-operations.md");

pub async fn handle(State(app): State<App>) -> Result<Served, Problem> {
    Ok(page::reference(&site(&app).await?, OPERATIONS, &app.settings.site_url).into())
}
