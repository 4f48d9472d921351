//! The pages that only a gateway has: the inbox, the outbox, and the API document with its reference.
//!
//! The inbox shows links that sign in, so it answers the machine that it runs on alone: the connection must come from loopback, and the
//! request must name a loopback host, which a page of another site cannot (DNS rebinding).

mod inbox;
mod outbox;

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use shared::App;
use shared::http::Json;

use crate::inbox::Inbox;
use crate::keys::Keys;

/// The router of the pages. `api` answers the operations, and `keys` are those of the project whose outbox is shown.
pub fn router(inbox: Inbox, keys: Keys, api: Router, app: &App) -> Router {
    inbox::router(inbox).layer(from_fn(loopback_only)).merge(outbox::router(keys, api)).merge(documents(app))
}

/// The API document and its reference page. They are made when somebody asks for the first time, not at every start.
fn documents(app: &App) -> Router {
    let (api_url, site_url) = (app.settings.api_url.clone(), app.settings.site_url.clone());
    let guide = Arc::new(LazyLock::new({
        let api_url = api_url.clone();
        move || infra::reference::guide_html(&api_url).map_err(|error| error.to_string())
    }));
    let document = Arc::new(LazyLock::new(move || infra::openapi::json(&api_url, &site_url).map_err(|error| error.to_string())));
    let reference = Arc::new(LazyLock::new({
        let document = Arc::clone(&document);
        move || {
            (**document)
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|document| infra::reference::reference_html(document).map_err(|error| error.to_string()))
        }
    }));
    let json = move || async move { made((**document).as_ref().map(|document| Json(document).into_response())) };
    let reference = move || async move { made((**reference).as_ref().map(|page| page_of(page))) };
    let guide = move || async move { made((**guide).as_ref().map(|page| page_of(page))) };
    let open = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))];
    let json = get(move || async move { (open, json().await) });
    Router::new().route("/openapi.json", json).route("/docs", get(guide)).route("/docs/api", get(reference))
}

/// A page that loads nothing.
fn page_of(html: &str) -> Response {
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:");
    ([(header::CONTENT_SECURITY_POLICY, policy)], Html(html.to_owned())).into_response()
}

fn made(document: Result<Response, &String>) -> Response {
    document.unwrap_or_else(|error| {
        tracing::error!(error, "the API document cannot be made");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

async fn loopback_only(request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().is_some_and(|peer| peer.0.ip().is_loopback());
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).is_some_and(is_loopback_host);
    if peer && host {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "This is for the machine of the gateway alone.\n").into_response()
    }
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
