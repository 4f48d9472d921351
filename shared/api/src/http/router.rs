//! Operations and their routers.

use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, on};
use axum::{Extension, Router};
use flows::App;
use tower_http::catch_panic::CatchPanicLayer;

use crate::http::describe::Signature;
use crate::http::route::{Interface, Route};
use crate::{content, product};

/// Visits the operations of an area: gateway, template, API document and contract tests are such visitors.
pub trait Register {
    fn operation<H, T>(&mut self, route: Route, handler: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static;
}

/// The router of one operation, with everything that its interface does for it.
pub fn router<H, T>(app: &App, route: Route, handler: H) -> Router<App>
where
    H: Handler<T, App>,
    T: 'static,
{
    Router::new().route(route.path, layered(app, route, on(route.verb.filter(), handler)))
}

/// A method router behind the layer of its interface.
pub fn layered(app: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    let methods: MethodRouter<App> = match route.interface {
        Interface::Content => {
            methods.layer(CatchPanicLayer::custom(content::layer::panicked)).layer(from_fn_with_state(app.clone(), content::layer))
        }
        Interface::Product => {
            methods.layer(CatchPanicLayer::custom(product::layer::panicked)).layer(from_fn_with_state(app.clone(), product::layer))
        }
    };
    // Outermost: the layer asks what the route takes, and who proves an access what it is counted under.
    methods.layer(Extension(route))
}

/// A router that answers whatever no route matches, behind the layer of an interface.
pub fn fallback_router<H, T>(app: &App, interface: Interface, handler: H) -> Router<App>
where
    H: Handler<T, App>,
    T: 'static,
{
    let router = Router::new().fallback(handler);
    match interface {
        Interface::Content => router.layer(from_fn_with_state(app.clone(), content::layer)),
        Interface::Product => router.layer(from_fn_with_state(app.clone(), product::layer::fallback_layer)),
    }
}
