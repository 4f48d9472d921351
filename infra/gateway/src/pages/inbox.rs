//! The inbox: a page to look at mails, and the same for programs.

use axum::Router;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};

use crate::inbox::{Inbox, api};

/// The page lists and shows mails by way of the JSON beside it. A mail's HTML is shown in a frame without scripts or origin.
const PAGE: &str = include_str!("inbox.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src * data:; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn router(inbox: Inbox) -> Router {
    Router::new().route("/inbox", get(page)).merge(api::router(inbox))
}

async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    ];
    (headers, Html(PAGE))
}
