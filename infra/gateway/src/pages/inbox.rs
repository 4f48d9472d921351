//! The inbox: a page to look at mails, and the same for programs.

use axum::Router;
use axum::extract::{Query, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;
use shared::http::Json;

use crate::inbox::{Inbox, KEPT};

/// The page lists and shows mails by way of the JSON beside it. A mail's HTML is shown in a frame without scripts or origin.
const PAGE: &str = include_str!("inbox.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src * data:; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn router(inbox: Inbox) -> Router {
    Router::new().route("/inbox", get(page)).route("/inbox/api/messages", get(list).delete(clear)).with_state(inbox)
}

async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    ];
    (headers, Html(PAGE))
}

/// How many mails are listed when nobody says.
const LISTED: usize = 200;

#[derive(Deserialize)]
struct ListQuery {
    to: Option<String>,
    limit: Option<usize>,
}

async fn list(State(inbox): State<Inbox>, Query(query): Query<ListQuery>) -> Response {
    let limit = query.limit.unwrap_or(LISTED).min(KEPT);
    match tokio::task::spawn_blocking(move || inbox.find(query.to.as_deref(), limit)).await {
        Ok(found) => ([(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))], Json(found)).into_response(),
        Err(error) => {
            tracing::error!(%error, "the inbox cannot be read");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn clear(State(inbox): State<Inbox>) -> Response {
    match inbox.clear() {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => {
            tracing::error!(%error, "the inbox cannot be emptied");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
