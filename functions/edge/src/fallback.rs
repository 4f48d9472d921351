//! Answers requests that match no operation: 404, 405 with `Allow`, `OPTIONS`, the page about
//! errors and, where the operator wants it, the console. If GET is the only method of a path, API
//! Gateway sends all its requests to the operation's function, which answers other methods in the
//! same way ([`api::http::one_operation`]).
//!
//! API Gateway itself would answer a wrong method with 404, so the template directs API Gateway's
//! route `$default` to this function. The gateway, which serves the API on one machine, uses the
//! same handler. The Lambda knows the routes of all operations but links none of their handlers.

use std::sync::LazyLock;

use api::content::Problem;
use api::http::{Interface, Register, Route, Signature, Verb, fallback_router, with_allow};
use api::product::preflight;
use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use errors::{KnownError, PathSlip};
use flows::App;
use http::Method;
use tower::ServiceExt as _;

use crate::error_page;
use crate::nearest::nearest;

/// The name of the Lambda behind `$default`.
pub const NAME: &str = "edge-fallback";

/// Collects the routes of operations.
#[derive(Debug, Default)]
pub struct Routes(pub Vec<Route>);

impl Register for Routes {
    fn operation<H, T>(&mut self, route: Route, _: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static,
    {
        self.0.push(route);
    }
}

/// The routes of every operation.
pub fn all_routes() -> &'static [Route] {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
        let mut routes = Routes::default();
        crate::all_operations(&mut routes);
        routes.0
    });
    &ROUTES
}

/// The interface to which a path belongs, for requests that match no operation.
pub fn interface(path: &str) -> Interface {
    let content = ["/api/v1/apps", "/api/v1/blog-posts", "/api/v1/site"];
    let is_content = content.iter().any(|start| path == *start || path.strip_prefix(start).is_some_and(|rest| rest.starts_with('/')));
    let is_api = path == "/api" || path.starts_with("/api/") || path == "/health";
    if is_content || !is_api { Interface::Content } else { Interface::Product }
}

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
        (Interface::Content | Interface::Agents, true) => Problem::Misspelt(slip(method, path)).into_response(),
        (Interface::Content | Interface::Agents, false) => with_allow(Problem::MethodNotAllowed.into_response(), &methods),
        (Interface::Product, true) => KnownError::RouteNotFound(slip(method, path)).into_response(),
        (Interface::Product, false) => with_allow(KnownError::MethodNotAllowed.into_response(), &methods),
    }
}

/// The likely mistake in a path that no operation has.
fn slip(method: &Method, path: &str) -> PathSlip {
    if path.ends_with('/') && !methods(path.trim_end_matches('/')).is_empty() {
        return PathSlip::Slash;
    }
    nearest(all_routes(), method, path).map_or(PathSlip::None, |route| PathSlip::Near { verb: route.verb.name(), path: route.path })
}

/// The methods of a path. Only the best matches count: `/users/me` wins over `/users/{user_id}`.
fn methods(path: &str) -> Vec<Verb> {
    let parameters = |route: &&Route| route.path.matches('{').count();
    let matching: Vec<&Route> = all_routes().iter().filter(|route| route.matches(path)).collect();
    let least = matching.iter().map(parameters).min();
    matching.iter().filter(|route| Some(parameters(route)) == least).map(|route| route.verb).collect()
}

/// The fallback of a deployment, with the console where the operator wants it
/// (`GATELET_CONSOLE=on`).
pub fn of_deployment(app: &App) -> axum::Router<App> {
    if settings::has_console() { with_console(router(app)) } else { router(app) }
}

/// Adds the console. Its page and files contain nothing secret, so everybody gets them; to see
/// anything else, a user has to sign in.
pub fn with_console(fallback: axum::Router<App>) -> axum::Router<App> {
    fallback.merge(web_console::serve::router().with_state(()))
}

/// The fallback with the layers of the path's interface.
pub fn router(app: &App) -> axum::Router<App> {
    let of = |interface| fallback_router(app, interface, handle).with_state::<()>(app.clone());
    let (content, product) = (of(Interface::Content), of(Interface::Product));
    let choose = move |request: Request| {
        let router = if interface(request.uri().path()) == Interface::Product { product.clone() } else { content.clone() };
        async move { router.oneshot(request).await.into_response() }
    };
    axum::Router::new().fallback(choose)
}
