//! `GET /`: returns the start page of the site, with links to all other pages. The canonical URL of
//! the page is `/docs`.

use api::content::{Problem, ServedDocument};
use api::http::{Route, TableAction};
use axum::extract::State;
use flows::App;
use site::page;

use crate::published::{START_PAGE, document};

pub const ROUTE: Route = Route::get("content-get-home", "/")
    .content()
    .media(&["text/html"])
    .summary("Returns the start page of the site, which links to everything else")
    .table(&[TableAction::BatchGetItem]);

pub async fn handle(State(app): State<App>) -> Result<ServedDocument, Problem> {
    document(&app, START_PAGE, |shown, site_url| page::docs(&shown.content, site_url), 0).await
}
