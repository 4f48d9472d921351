//! Responds to requests that match no operation: to unknown paths with 404, to wrong methods with
//! 405 and `Allow`, and to `OPTIONS`. Also serves the page about errors and, if the operator has
//! enabled it, the console. If a path supports only GET, API Gateway sends all requests for the
//! path to the operation's function, which responds to other methods in the same way
//! ([`api::http::one_operation`]).
//!
//! API Gateway would respond to a wrong method with 404, so the route `$default` in the template
//! leads to this function. The gateway uses the same handler. The Lambda knows the routes of all
//! operations, but contains none of their handlers.

use api::content::Problem;
use api::http::{Interface, fallback_router, with_allow};
use api::product::preflight;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use errors::{KnownError, PathSlip};
use flows::App;
use http::Method;
use tower::ServiceExt as _;

use crate::error_page;
use crate::nearest::nearest;
use crate::routes::{interface, methods, routes};

/// The name of the Lambda behind `$default`.
pub const NAME: &str = "edge-fallback";

pub async fn handle(request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    if *method == Method::OPTIONS {
        return preflight();
    }
    if path == error_page::PATH && matches!(*method, Method::GET | Method::HEAD) {
        return error_page::show();
    }
    let methods = methods(path);
    match (interface(path), methods.is_empty()) {
        (Interface::Content | Interface::Agents | Interface::Pages, true) => Problem::Misspelt(slip(method, path)).into_response(),
        (Interface::Content | Interface::Agents | Interface::Pages, false) => {
            with_allow(Problem::MethodNotAllowed.into_response(), &methods)
        }
        (Interface::Product, true) => KnownError::RouteNotFound(slip(method, path)).into_response(),
        (Interface::Product, false) => with_allow(KnownError::MethodNotAllowed.into_response(), &methods),
    }
}

/// The likely mistake in the path of a request.
fn slip(method: &Method, path: &str) -> PathSlip {
    if path.ends_with('/') && !methods(path.trim_end_matches('/')).is_empty() {
        return PathSlip::Slash;
    }
    nearest(routes(), method, path).map_or(PathSlip::None, |route| PathSlip::Near { verb: route.verb.name(), path: route.path })
}

/// The fallback of a deployment; with the console if the operator has enabled it
/// (`GATELET_CONSOLE=on`).
pub fn deployment_router(app: &App) -> axum::Router<App> {
    if settings::has_console() { with_console(router(app)) } else { router(app) }
}

/// Adds the console. The page and files of the console are public, because they contain no secrets;
/// everything else requires a sign-in.
pub fn with_console(fallback: axum::Router<App>) -> axum::Router<App> {
    fallback.merge(web_console::serve::router().with_state(()))
}

/// The fallback, wrapped in the layers of the interface to which the path belongs.
pub fn router(app: &App) -> axum::Router<App> {
    let of = |interface| fallback_router(app, interface, handle).with_state::<()>(app.clone());
    let (content, product) = (of(Interface::Content), of(Interface::Product));
    let choose = move |request: Request| {
        let router = if interface(request.uri().path()) == Interface::Product { product.clone() } else { content.clone() };
        async move { router.oneshot(request).await.into_response() }
    };
    axum::Router::new().fallback(choose)
}
