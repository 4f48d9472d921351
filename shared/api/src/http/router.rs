//! Operations and their routers.

use axum::handler::Handler;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, on};
use axum::{Extension, Router};
use flows::App;
use tower_http::catch_panic::CatchPanicLayer;

use crate::http::describe::Signature;
use crate::http::interface::Interface;
use crate::http::route::Route;
use crate::{content, pages, product, rpc};

/// A visitor of an area's operations. Visitors build, for example, the gateway, the fallback
/// function, the deployment template and the API document.
pub trait Register {
    /// Visits one operation.
    fn operation<H, T>(&mut self, route: Route, handler: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static;
}

/// Collects the visited operations in one router.
pub struct Operations {
    app: App,
    router: Router<App>,
}

impl Operations {
    /// A router without operations.
    pub fn new(app: App) -> Self {
        Self { app, router: Router::new() }
    }

    /// The router of all operations visited so far.
    pub fn into_router(self) -> Router<App> {
        self.router
    }
}

impl Register for Operations {
    fn operation<H, T>(&mut self, route: Route, handler: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static,
    {
        let methods = layered(&self.app, route, on(route.verb.filter(), handler));
        self.router = std::mem::take(&mut self.router).route(route.path, methods);
    }
}

/// The router of one operation, behind the layer of its interface.
pub fn router<H, T>(app: &App, route: Route, handler: H) -> Router<App>
where
    H: Handler<T, App>,
    T: 'static,
{
    Router::new().route(route.path, layered(app, route, on(route.verb.filter(), handler)))
}

/// A method router behind the layer of its interface.
pub fn layered(app: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    match route.interface {
        Interface::Content => wrap_content(app, route, methods),
        Interface::Product => wrap_product(app, route, methods),
        Interface::Agents => wrap_agents(app, route, methods),
        Interface::Pages => wrap_pages(app, route, methods),
    }
}

// The extension with the route is added last, and is therefore the outermost layer: the inner
// layers need the route's properties, such as its rate limit.

/// A method router behind the layer of the public content.
pub(super) fn wrap_content(app: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    let layer = from_fn_with_state(app.clone(), content::layer);
    let methods: MethodRouter<App> = methods.layer(CatchPanicLayer::custom(content::layer::panicked)).layer(layer);
    methods.layer(Extension(route))
}

/// A method router behind the layer of the product API.
pub(super) fn wrap_product(app: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    let layer = from_fn_with_state(app.clone(), product::layer);
    let methods: MethodRouter<App> = methods.layer(CatchPanicLayer::custom(product::layer::panicked)).layer(layer);
    methods.layer(Extension(route))
}

/// A method router behind the layer for agents.
pub(super) fn wrap_agents(_: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    let methods: MethodRouter<App> = methods.layer(CatchPanicLayer::custom(rpc::layer::panicked)).layer(from_fn(rpc::layer));
    methods.layer(Extension(route))
}

/// A method router behind the layer for pages.
pub(super) fn wrap_pages(app: &App, route: Route, methods: MethodRouter<App>) -> MethodRouter<App> {
    let layer = from_fn_with_state(app.clone(), pages::layer);
    let methods: MethodRouter<App> = methods.layer(CatchPanicLayer::custom(pages::layer::panicked)).layer(layer);
    methods.layer(Extension(route))
}

/// A router for requests that match no route, behind the layer of an interface.
pub fn fallback_router<H, T>(app: &App, interface: Interface, handler: H) -> Router<App>
where
    H: Handler<T, App>,
    T: 'static,
{
    let router = Router::new().fallback(handler);
    match interface {
        Interface::Content | Interface::Agents | Interface::Pages => behind_content(app, router),
        Interface::Product => behind_product(app, router),
    }
}

/// A router for requests that match no route, behind the layer of the public content.
pub(super) fn behind_content(app: &App, fallback: Router<App>) -> Router<App> {
    fallback.layer(from_fn_with_state(app.clone(), content::layer))
}

/// A router for requests that match no route, behind the layer of the product API.
pub(super) fn behind_product(app: &App, fallback: Router<App>) -> Router<App> {
    fallback.layer(from_fn_with_state(app.clone(), product::layer::fallback_layer))
}
