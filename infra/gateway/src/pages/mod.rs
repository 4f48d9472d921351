//! The pages that only a gateway has: the inbox, and the API document with its reference.
//!
//! The inbox shows links that sign in, so it answers the machine that it runs on alone: the connection must come from loopback, and the
//! request must name a loopback host, which a page of another site cannot (DNS rebinding).

mod inbox;

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use shared::App;
use shared::http::Json;

use crate::inbox::Inbox;

/// The router of the pages.
pub fn router(inbox: Inbox, app: &App) -> Router {
    inbox::router(inbox).layer(from_fn(loopback_only)).merge(documents(app))
}

fn documents(app: &App) -> Router {
    let document = infra::openapi::document(&app.settings.api_url);
    let reference = infra::openapi::reference_html(&document);
    let html = move || async move {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (
                header::CONTENT_SECURITY_POLICY,
                HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"),
            ),
        ];
        (headers, reference)
    };
    Router::new().route("/openapi.json", get(move || async move { Json(document) })).route("/docs/api", get(html))
}

async fn loopback_only(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().is_some_and(|peer| peer.0.ip().is_loopback());
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(is_loopback_host);
    if peer && host { next.run(request).await } else { (StatusCode::FORBIDDEN, "The inbox is for this machine alone.\n").into_response() }
}

fn is_loopback_host(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit())).map_or(host, |(name, _)| name);
    let name = name.trim_matches(['[', ']']);
    name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback_host;

    #[test]
    fn a_loopback_host_is_named_as_such() {
        for host in ["localhost", "localhost:8787", "127.0.0.1:8787", "[::1]:8787"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["evil.test", "evil.test:8787", "localhost.evil.test", "10.0.0.1", ""] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
