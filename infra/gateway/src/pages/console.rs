//! `/console`: the console. On the gateway's machine, browsers that open `/` are redirected there;
//! programs get the public start page of the site.
//!
//! The page and its modules contain no data. The data comes from the API. The admin key of the
//! gateway's first project comes from `/console/session`. `/console/session` requires more than the
//! other private pages: in addition to the cookie, the browser sends the console token, which it
//! has stored since it followed the link with the page key. Browsers send cookies to all ports of
//! this machine, including servers of other users, whereas storage belongs to this gateway's
//! origin. The guard rejects requests from pages of other sites, and from pages under foreign names
//! that resolve to this machine. The response contains no CORS headers.

use api::http::Json;
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use secrecy::ExposeSecret as _;
use serde_json::json;
use tower::ServiceExt as _;
use web_console::serve::{asset, preview};
use web_console::{ENTRY, STYLE};
use wire::id::ProjectId;

use super::request::{CONSOLE, wants_html};
use super::state::Pages;
use super::{answer, guard};

pub(super) fn router(pages: Pages) -> Router {
    let guarded = Router::new()
        .route(CONSOLE, get(show))
        .route("/console/{*path}", get(show))
        .route("/console/session", get(session))
        .route("/console/preview", post(preview))
        .layer(from_fn_with_state(pages.clone(), guard::holders_of_the_key));
    guarded.route("/", get(start)).route("/console/assets/{version}/{*name}", get(asset)).with_state(pages)
}

/// The console without the keys of a project, in which users must sign in. The console's files
/// contain no data, so the guard does not protect them.
pub(super) fn with_sign_in(pages: Pages) -> Router {
    let router = Router::new().route(CONSOLE, get(show)).route("/console/{*path}", get(show)).route("/console/preview", post(preview));
    router.route("/console/assets/{version}/{*name}", get(asset)).with_state(pages)
}

async fn start(State(pages): State<Pages>, request: Request) -> Response {
    if !wants_html(request.headers()) {
        return pages.api.clone().oneshot(request).await.into_response();
    }
    guard::answer_instead(&pages, &request).unwrap_or_else(|| answer::see(CONSOLE))
}

/// The page. Browsers send no referrer from this page until its script has removed any code from
/// the URL.
async fn show(State(pages): State<Pages>) -> Response {
    pages.page("console", CONSOLE, json!({ "entry": web_console::url(ENTRY), "style": web_console::url(STYLE) }))
}

/// The keys of the first project, for callers with the page key or the console token.
async fn session(State(pages): State<Pages>, headers: HeaderMap) -> Response {
    let Some(private) = &pages.private else { return StatusCode::NOT_FOUND.into_response() };
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let key = &private.page_key;
    if !key.is_in_header(&headers) && !key.is_console_token_in(&headers, host) {
        let text = "The console token is required: open the link that the command \"gateway pages\" prints.\n";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    let keys = &private.keys;
    let body = json!({
        "api_url": pages.app.settings.api_url,
        "project_id": keys.project_id,
        "publishable_client_key": keys.client.expose_secret(),
        "secret_server_key": keys.server.expose_secret(),
        "super_secret_admin_key": keys.admin.expose_secret(),
        "keys_file": private.keys_file,
        "internal_project_id": ProjectId::internal(),
    });
    let mut response = Json(body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
