//! Every operation, by its route and by what its handler says of itself.

use api::http::{Description, Register, Route, Signature};
use axum::handler::Handler;
use edge_functions::all_operations;
use flows::App;

/// An operation as the tools see it.
#[derive(Clone)]
pub struct Operation {
    pub route: Route,
    pub description: Description,
}

impl Operation {
    /// The first word of the name, and the folder of the area below `functions/`.
    pub fn area(&self) -> &'static str {
        self.route.name.split('-').next().unwrap_or(self.route.name)
    }

    /// The name without its area, as in `events/<area>/<this>.json`.
    pub fn short_name(&self) -> &'static str {
        self.route.name.split_once('-').map_or(self.route.name, |(_, name)| name)
    }
}

#[derive(Default)]
struct Visitor(Vec<Operation>);

impl Register for Visitor {
    fn operation<H, T>(&mut self, route: Route, _: H)
    where
        H: Handler<T, App> + Signature<T>,
        T: 'static,
    {
        self.0.push(Operation { route, description: H::describe() });
    }
}

/// Every operation of the service, in the order of the areas' lists.
pub fn all() -> Vec<Operation> {
    let mut visitor = Visitor::default();
    all_operations(&mut visitor);
    visitor.0
}
