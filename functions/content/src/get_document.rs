//! `GET /{document}`: returns a document of the site, for people, feed readers, crawlers and
//! language models.

use api::content::{ContentNumber, ContentPath, NamedResource, NumberParameter, Problem, ServedDocument};
use api::http::{Need, Route, TableAction};
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use flows::App;
use http::{HeaderValue, header};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::published;

pub const ROUTE: Route = Route::get("content-get-document", "/{document}")
    .content()
    .media(&["application/*", "image/svg+xml", "text/*"])
    .needs(&[Need::Console])
    .summary("Returns a document of the site: a page, a feed, or a text for language models")
    .table(&[TableAction::BatchGetItem, TableAction::GetItem])
    .problems(&["route_not_found"]);

/// The requested document.
#[derive(Debug, Deserialize, ToSchema)]
pub struct DocumentPath {
    /// The name of the document: apps, blog, docs, feed.json, feed.xml, icon.svg, index.md,
    /// llms-full.txt, llms.txt, robots.txt, sitemap.xml or style.css.
    #[schema(example = "llms.txt")]
    document: String,
}

/// Selects a page of a document that has several pages.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub struct Pages {
    /// The number of a blog page, from 2, as in the links between the pages. Any other value
    /// selects the first page. All other documents have only one page.
    page: Option<String>,
}

impl NumberParameter for Pages {
    const NAME: &'static str = "page";
    const MIN: usize = 2;
    const PATH: &'static str = site::PAGED;
}

impl NamedResource for DocumentPath {
    const PROBLEM: Problem = Problem::RouteNotFound;
}

/// The path of the console's page. API Gateway routes paths with one segment to this function, and
/// longer paths below `/console` to the function that serves the console.
const CONSOLE: &str = "console";
/// A longer path for the same page as `/console`.
const CONSOLE_HOME: &str = "/console/home";

/// The paths with one segment that agents call. API Gateway routes GET requests for these paths to
/// this function.
const OF_AGENTS: [&str; 2] = ["a2a", "mcp"];

pub async fn handle(
    State(app): State<App>,
    ContentPath(path): ContentPath<DocumentPath>,
    page: ContentNumber<Pages>,
) -> Result<ServedDocument, Response> {
    if OF_AGENTS.contains(&path.document.as_str()) {
        return Err(([(header::ALLOW, HeaderValue::from_static("POST"))], Problem::MethodNotAllowed).into_response());
    }
    if path.document == CONSOLE && settings::has_console() {
        return Err(Redirect::temporary(CONSOLE_HOME).into_response());
    }
    // The pages of the blog are counted from 0 here and from 1 in links. A number that is not
    // written as in the links is redirected to the first page.
    let page = match path.document.as_str() {
        site::PAGED => page.canonical().map_err(IntoResponse::into_response)?.map_or(0, |page| page - 1),
        _ => 0,
    };
    document(&app, &path.document, page).await.map_err(IntoResponse::into_response)
}

async fn document(app: &App, name: &str, page: usize) -> Result<ServedDocument, Problem> {
    let site_url = app.settings.site_url.as_str();
    if let Some(document) = site::fixed(name, site_url) {
        return Ok(document.into());
    }
    let render = site::renderer(name).ok_or(Problem::RouteNotFound)?;
    published::document(app, name, render, page).await
}
