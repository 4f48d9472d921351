//! `GET /`: returns the start page of the site, which leads to everything else. It is the same as
//! `/docs`, the URL by which search engines know it.

use api::content::{Problem, Served};
use api::http::{Route, TableAction};
use axum::extract::State;
use flows::App;
use site::{catalog, page};
use store::content::Dated;

use crate::published::newest;

pub const ROUTE: Route = Route::get("content-get-home", "/")
    .content()
    .summary("Returns the start page of the site, which leads to everything else")
    .table(&[TableAction::BatchGetItem]);

pub async fn handle(State(app): State<App>) -> Result<Served, Problem> {
    let site_url = &app.settings.site_url;
    let Dated { value, since } = newest(&app, site::most_posts("docs")).await?;
    Ok(Served::from(page::docs(&value, site_url)).since(since).with_links(catalog::links(site_url)))
}
