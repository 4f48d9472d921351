//! The router of a Lambda that has one operation.
//!
//! API Gateway matches routes against the decoded path. The router matches routes against the
//! undecoded path, which may not match any route. If a path does not support a method, API Gateway
//! passes the request to the function of the path's GET operation.

use std::str::FromStr as _;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;
use errors::{KnownError, PathSlip};
use flows::App;
use http::{HeaderValue, Method, header};
use tower::ServiceExt as _;
use wire::environment::variable;

use crate::content::error::Problem;
use crate::http::route::Route;
use crate::http::router::{behind_content, behind_product};
use crate::http::verb::Verb;
use crate::pages;
use crate::product::preflight;

/// How an interface responds to requests that its operation does not accept.
#[derive(Clone, Copy)]
pub(super) struct Others {
    no_route: fn() -> Response,
    wrong_method: fn() -> Response,
    behind: fn(&App, Router<App>) -> Router<App>,
}

pub(super) const OF_PRODUCT: Others = Others {
    no_route: || KnownError::RouteNotFound(PathSlip::None).into_response(),
    wrong_method: || KnownError::MethodNotAllowed.into_response(),
    behind: behind_product,
};

pub(super) const OF_CONTENT: Others = Others {
    no_route: || Problem::RouteNotFound.into_response(),
    wrong_method: || Problem::MethodNotAllowed.into_response(),
    behind: behind_content,
};

pub(super) const OF_PAGES: Others =
    Others { no_route: pages::layer::missing, wrong_method: pages::layer::wrong_method, behind: |_, fallback| fallback };

/// The router of an operation; `methods` is already behind the layer of the operation's interface.
pub(super) fn operation_router(app: &App, route: Route, methods: MethodRouter<App>, others: Others) -> Router<App> {
    let behind = |fallback: Router<App>| (others.behind)(app, fallback).with_state::<()>(app.clone());
    let no_route = async move |method: Method| if method == Method::OPTIONS { preflight() } else { (others.no_route)() };
    let wrong_method = async move |method: Method| match method {
        Method::OPTIONS => preflight(),
        _ => with_allow((others.wrong_method)(), &allowed(route.verb)),
    };
    let [no_route, wrong_method] = [behind(Router::new().fallback(no_route)), behind(Router::new().fallback(wrong_method))];
    with_fallbacks(Router::new().route(route.path, methods), no_route, wrong_method)
}

/// The methods of the path. The function knows only its own operation, so the template names the
/// others (`GATELET_ALLOWED_METHODS`).
fn allowed(own: Verb) -> Vec<Verb> {
    let named = variable("GATELET_ALLOWED_METHODS").unwrap_or_default();
    named.split(' ').filter_map(|name| Verb::from_str(name).ok()).chain([own]).collect()
}

/// Adds the responses to requests whose path or method does not match a route.
pub fn with_fallbacks(router: Router<App>, no_route: Router, wrong_method: Router) -> Router<App> {
    router.fallback_service(no_route).method_not_allowed_fallback(move |request: Request| {
        let wrong_method = wrong_method.clone();
        async move { wrong_method.oneshot(request).await.into_response() }
    })
}

/// Adds `Allow` with the methods of a path (RFC 9110 §10.2.1). GET implies HEAD.
pub fn with_allow(mut response: Response, verbs: &[Verb]) -> Response {
    let mut names: Vec<&str> = verbs.iter().map(|verb| verb.name()).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(position) = names.iter().position(|name| *name == Verb::Get.name()) {
        names.insert(position + 1, "HEAD");
    }
    if let Ok(value) = HeaderValue::from_str(&names.join(", ")) {
        response.headers_mut().insert(header::ALLOW, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http_body_util::BodyExt as _;
    use serde_json::Value;

    use super::*;
    use crate::http::log;
    use crate::http::router::{wrap_content, wrap_product};

    #[tokio::test]
    async fn an_operation_answers_the_methods_and_paths_that_it_does_not_take() {
        let app = log::tests::app(None);
        let reached = || get(async || KnownError::UserNotFound.into_response());
        let route = Route::get("users-me-read", "/api/v1/users/me");
        let product = operation_router(&app, route, wrap_product(&app, route, reached()), OF_PRODUCT);
        let content = operation_router(&app, route, wrap_content(&app, route, reached()), OF_CONTENT);
        for (router, codes) in [(product, ["METHOD_NOT_ALLOWED", "ROUTE_NOT_FOUND"]), (content, ["method_not_allowed", "route_not_found"])]
        {
            let router: Router = router.with_state(app.clone());
            let ask = async |method: &str, path: &str| {
                let request = Request::builder().method(method).uri(path).body(Body::empty()).expect("a request");
                let (parts, body) = router.clone().oneshot(request).await.expect("a response").into_parts();
                (parts, body.collect().await.expect("a body").to_bytes())
            };
            let code = |body: &[u8]| {
                let body: Value = serde_json::from_slice(body).expect("JSON");
                let code = if body["code"].is_string() { &body["code"] } else { &body["error"]["code"] };
                code.as_str().expect("a code").to_owned()
            };
            for path in [route.path, "/api/v2/users/me"] {
                let (parts, body) = ask("OPTIONS", path).await;
                assert_eq!((parts.status.as_u16(), parts.headers["access-control-allow-origin"].as_bytes()), (200, &b"*"[..]), "{path}");
                assert!(parts.headers.contains_key("access-control-allow-headers") && body.is_empty());
            }
            for method in ["POST", "DELETE", "PUT", "TRACE"] {
                let (parts, body) = ask(method, route.path).await;
                assert_eq!((parts.status.as_u16(), parts.headers[header::ALLOW].as_bytes()), (405, &b"GET, HEAD"[..]), "{method}");
                assert_eq!(code(&body), codes[0]);
            }
            let (parts, body) = ask("GET", "/api/v1/users/ME").await;
            assert_eq!((parts.status.as_u16(), code(&body).as_str()), (404, codes[1]));
        }
    }
}
