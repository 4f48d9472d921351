//! What is derived from the operations, besides the gateway: the deployment template, the routes of `cargo lambda watch`, the API
//! document and its reference page.
//!
//! Everything starts with [`operations::all`], so a new operation is in all of them by being in its area's list. What is checked in
//! (template, watch routes, the list of all operations, the security scorecard) is compared with what is rendered here by the contract tests; `cargo run -p infra -- render` writes it.

pub mod all_operations;
pub mod binaries;
pub mod checked_in;
pub mod new;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod pages;
pub mod reference;
mod render;
pub mod scorecard;
pub mod template;
pub mod watch;
pub mod workers;
mod workspace;

pub use operation::Operation;

/// The documents and events, as `build.rs` lists them.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}
