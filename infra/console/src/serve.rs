//! Serves the console over HTTP. A deployment uses [`router`]; the gateway serves the page itself,
//! because its console may be private.

use axum::Router;
use axum::extract::{Form, Path};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Deserialize;

use crate::{Asset, page, version};

/// The content security policy of pages.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
    frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The content security policy for an email's HTML: images, but no scripts or forms. The sandbox
/// gives the HTML an opaque origin.
const EMAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; font-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/// The routes of a console that only signed-in users of the project `internal` can use.
pub fn router() -> Router {
    Router::new()
        .route("/console", get(show))
        .route("/console/{*path}", get(show))
        .route("/console/preview", post(preview))
        .route("/console/assets/{version}/{*name}", get(asset))
}

/// The page. Browsers send no referrer from this page until its script has removed any code from
/// the URL.
async fn show() -> Response {
    (protected(POLICY), Html(page())).into_response()
}

/// The form with the HTML of an email to preview.
#[derive(Deserialize)]
pub struct Preview {
    html: String,
}

/// Returns the HTML of an email for a frame of the console's editor, where it runs no scripts and
/// has an opaque origin. Without a separate response, the frame would inherit the console's policy,
/// which forbids the styles of emails.
pub async fn preview(headers: HeaderMap, Form(Preview { html }): Form<Preview>) -> Response {
    // Other sites must not be able to show their own content at this address.
    if headers.get("sec-fetch-site").is_none_or(|site| site != "same-origin") {
        return StatusCode::FORBIDDEN.into_response();
    }
    email(&html)
}

/// The HTML of an email for a frame. Links in the email open in a new tab.
pub fn email(html: &str) -> Response {
    (protected(EMAIL_POLICY), Html(format!("<!doctype html><base target=\"_blank\">{html}"))).into_response()
}

/// Serves a file of the front end. The files are public, because they contain no data.
pub async fn asset(Path((asked, name)): Path<(String, String)>) -> Response {
    let Some(asset) = Asset::find(&name) else { return StatusCode::NOT_FOUND.into_response() };
    let cache = if asked == version() { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, asset.content).into_response()
}

/// The headers of a page with the given content security policy.
pub fn protected(policy: &'static str) -> [(HeaderName, HeaderValue); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]
}
