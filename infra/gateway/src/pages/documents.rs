//! The public pages: documents and their pictures, the API reference, error codes and assets.

use api::content::LinkedResponse;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use infra::pages::assets::Asset;
use infra::pages::documents::{self, Document};
use infra::pages::{ERRORS_HREF, Link, errors};
use infra::reference::Reference;
use serde::Deserialize;
use site::catalog;

use super::answer;
use super::state::Pages;

pub(super) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/docs", get(start))
        .route("/docs/{*path}", get(async |State(pages): State<Pages>, Path(path): Path<String>| document(&pages, &path)))
        .route("/docs/api", get(index))
        .route("/docs/api/{operation}", get(operation))
        .route(ERRORS_HREF, get(error_codes))
        .route("/assets/{name}", get(asset))
        .with_state(pages)
}

/// The list of documents. As in a deployment, the headers of the start page refer programs to the
/// site's catalogs.
async fn start(State(pages): State<Pages>) -> Response {
    let links = catalog::links(&pages.app.settings.site_url);
    LinkedResponse { answer: document(&pages, ""), links: Some(links) }.into_response()
}

fn document(pages: &Pages, path: &str) -> Response {
    if let Some(svg) = documents::picture(path) {
        return answer::picture(svg);
    }
    match Document::find(path.trim_end_matches('/')) {
        Some(document) => answer::page(StatusCode::OK, document.page(&pages.frame, &pages.app.settings.api_url)),
        None => missing(pages),
    }
}

fn missing(pages: &Pages) -> Response {
    let links = [Link::new("Documents", "/docs"), Link::new("API reference", "/docs/api")];
    pages.message(StatusCode::NOT_FOUND, "This document does not exist", "It may have moved. See the list of documents.", &links)
}

impl Pages {
    /// The reference, which is created when it is first used, not at every start.
    pub(super) fn reference(&self) -> Result<&Reference, anyhow::Error> {
        let made = self.reference.get_or_init(|| {
            let settings = &self.app.settings;
            let document = infra::openapi::json(&settings.api_url, &settings.site_url);
            document.map(|document| Reference::of(&document)).map_err(|error| error.to_string())
        });
        made.as_ref().map_err(|error| anyhow::anyhow!("cannot create the OpenAPI document: {error}"))
    }
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

async fn index(State(pages): State<Pages>, Query(search): Query<Search>) -> Response {
    answer::page(StatusCode::OK, pages.reference().and_then(|reference| reference.index(&pages.frame, &search.q)))
}

/// The page of an operation, or of a document in `docs/api/`, which also has a URL below
/// `/docs/api/`.
async fn operation(State(pages): State<Pages>, Path(operation): Path<String>) -> Response {
    let path = format!("api/{operation}");
    if Document::find(&path).is_some() {
        return document(&pages, &path);
    }
    match pages.reference().map(|reference| reference.operation(&pages.frame, &operation)) {
        Ok(Some(page)) => answer::page(StatusCode::OK, page),
        Ok(None) => missing(&pages),
        Err(error) => answer::failed(&error),
    }
}

async fn error_codes(State(pages): State<Pages>) -> Response {
    answer::page(StatusCode::OK, errors::page(&pages.frame))
}

#[derive(Deserialize)]
struct Version {
    v: Option<String>,
}

/// Serves an asset. If the URL contains the current version, browsers may cache the asset forever.
async fn asset(Path(name): Path<String>, Query(version): Query<Version>) -> Response {
    let Some(asset) = Asset::find(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let is_current = version.v.as_deref() == Some(asset.version());
    let cache = if is_current { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    let mut response = (headers, asset.content).into_response();
    if let Ok(etag) = HeaderValue::from_str(&format!("\"{}\"", asset.version())) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    response
}
