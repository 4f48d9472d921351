//! The list of all operations, what their routes imply, and the function for requests that match no
//! operation.
//!
//! The crate is above the areas, so that no area depends on another for the list. The fallback is
//! here because it needs every route; its function still belongs to the stack `edge`.

mod error_page;
pub mod fallback;
mod nearest;
#[cfg(test)]
mod nearest_tests;
mod operations;
mod routes;

pub use crate::operations::all_operations;
pub use crate::routes::{interface, routes};
