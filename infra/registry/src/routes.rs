//! The routes of all operations, and the rules for paths that may match none of them.

use std::sync::LazyLock;

use api::http::{Interface, Register, Route, Signature, Verb};
use axum::handler::Handler;
use flows::App;

use crate::operations::all_operations;

/// The prefix of the paths of the versioned API.
const API: &str = "/api/v1/";

/// Collects the routes of operations.
#[derive(Default)]
struct Routes(Vec<Route>);

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
pub fn routes() -> &'static [Route] {
    static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| {
        let mut routes = Routes::default();
        all_operations(&mut routes);
        routes.0
    });
    &ROUTES
}

/// The methods that a path supports. Only the routes that match best count: `/users/me` beats
/// `/users/{user_id}`.
pub(crate) fn methods(path: &str) -> Vec<Verb> {
    let parameters = |route: &&Route| route.path.matches('{').count();
    let matching: Vec<&Route> = routes().iter().filter(|route| route.matches(path)).collect();
    let least = matching.iter().map(parameters).min();
    matching.iter().filter(|route| Some(parameters(route)) == least).map(|route| route.verb).collect()
}

/// The interface that determines the errors of a path that may match no operation: the interface of
/// the routes in the path's section. If the section has no routes, API paths belong to the product,
/// and all other paths belong to the site. The pages among the API's routes are endpoints of OpenID
/// Connect, next to operations of the product.
pub fn interface(path: &str) -> Interface {
    let is_api = path == "/api" || path.starts_with("/api/");
    let otherwise = if is_api { Interface::Product } else { Interface::Content };
    let is_page_in_api = |route: &Route| is_api && route.interface == Interface::Pages;
    let found = routes().iter().find(|route| section(route.path) == section(path) && !is_page_in_api(route));
    found.map_or(otherwise, |route| route.interface)
}

/// The section of a path. For API paths, the section is the path up to the first segment after the
/// version (`/api/v1/apps`); for all others, it is the whole path.
fn section(path: &str) -> &str {
    let length = path.strip_prefix(API).and_then(|rest| rest.find('/'));
    length.map_or(path, |length| &path[..API.len() + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_product(path: &str) -> bool {
        interface(path) == Interface::Product
    }

    #[test]
    fn a_section_of_paths_has_one_interface() {
        for route in routes() {
            let wanted = route.interface == Interface::Product || route.interface == Interface::Pages && route.path.starts_with(API);
            assert_eq!(is_product(route.path), wanted, "{} shares {} with the other interface", route.name, section(route.path));
        }
    }

    #[test]
    fn a_path_without_operation_has_the_interface_of_its_neighbours() {
        for path in
            ["/api/v1/apps/notes/x", "/api/v1/apps/", "/api/v1/blog-posts/x", "/api/v1/site/x", "/nothing", "/mcp", "/health/x", "/apix"]
        {
            assert!(!is_product(path), "{path}");
        }
        for path in ["/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v1/users/me/x", "/api/v1/appsx", "/health"] {
            assert!(is_product(path), "{path}");
        }
    }
}
