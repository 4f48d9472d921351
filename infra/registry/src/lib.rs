//! The list of all operations, the facts that follow from their routes, and the function for
//! requests that match no operation.
//!
//! This crate is in a layer above the areas, so that the list does not make any area depend on
//! another area. The fallback is in this crate because it needs every route; its function still
//! belongs to the stack `edge`.

mod error_page;
pub mod fallback;
mod nearest;
#[cfg(test)]
mod nearest_tests;
mod operations;
mod routes;

pub use crate::operations::all_operations;
pub use crate::routes::{interface, routes};
