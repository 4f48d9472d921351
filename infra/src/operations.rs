//! The operations of the service, each with its route and description, as the tools of this crate
//! read them.

use api::http::{Interface, Register, Route, Signature};
use axum::handler::Handler;
use flows::App;
use registry::all_operations;

use crate::operation::Operation;

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

/// Every operation of the service, in the order in which the areas list them.
pub fn all() -> Vec<Operation> {
    let mut visitor = Visitor::default();
    all_operations(&mut visitor);
    visitor.0
}

/// The operations of the APIs. Pages are left out: they are for people, and no program should send
/// their forms.
pub fn of_apis() -> Vec<Operation> {
    all().into_iter().filter(|operation| operation.route.interface != Interface::Pages).collect()
}
