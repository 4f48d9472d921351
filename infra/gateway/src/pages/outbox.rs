//! The outbox: a page to look at mails before and after they are sent, and to hold them back or change them until then.
//!
//! The page does everything by the operations of the API. On this machine it needs no key: what it asks for under `/outbox/api` is passed on
//! with the server key of the gateway's project, and that key stays here. From elsewhere it asks for a project and its admin key, and goes
//! to the API itself.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use secrecy::ExposeSecret as _;
use tower::ServiceExt as _;

use super::loopback_only;
use crate::keys::Keys;

/// A mail's HTML is shown in a frame without scripts or origin.
const PAGE: &str = include_str!("outbox.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src * data:; \
     frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What requests of the page are passed on with.
#[derive(Clone)]
struct Operator {
    keys: Keys,
    api: Router,
}

/// `api` answers the operations.
pub(super) fn router(keys: Keys, api: Router) -> Router {
    let methods = || on(MethodFilter::GET.or(MethodFilter::PATCH), pass_on);
    let passed = Router::new().route("/outbox/api", methods()).route("/outbox/api/{id}", methods());
    let passed = passed.with_state(Operator { keys, api }).layer(from_fn(loopback_only));
    Router::new().route("/outbox", get(page)).merge(passed)
}

async fn page() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    ];
    (headers, Html(PAGE))
}

/// Sends the request to the operation of the same name. A page of another site gets nowhere: its browser says where it comes from.
async fn pass_on(State(operator): State<Operator>, mut request: Request) -> Response {
    let site = request.headers().get("sec-fetch-site").map_or(Ok("none"), HeaderValue::to_str);
    if !matches!(site, Ok("none" | "same-origin")) {
        return (StatusCode::FORBIDDEN, "The outbox is for its own page.\n").into_response();
    }
    let rest = request.uri().path_and_query().map_or("", |path| path.as_str()).trim_start_matches("/outbox/api");
    let Ok(uri) = format!("/api/v1/emails/outbox{rest}").parse::<Uri>() else { return StatusCode::NOT_FOUND.into_response() };
    *request.uri_mut() = uri;
    let proofs = [
        ("x-service-access-type", "server"),
        ("x-service-project-id", operator.keys.project_id.as_str()),
        ("x-service-secret-server-key", operator.keys.server.expose_secret()),
    ];
    for (name, value) in proofs {
        if let Ok(value) = HeaderValue::from_str(value) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    operator.api.oneshot(request).await.into_response()
}
