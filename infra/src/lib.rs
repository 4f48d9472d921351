//! Everything derived from the operations, except the gateway: the deployment template, the routes
//! of `cargo lambda watch`, the OpenAPI document, its reference pages and the list of operations.
//! The crate also has the other pages of a gateway, the documents about error codes and security
//! standards, and `infra new`.
//!
//! The operations come from [`operations::all`], so a new operation appears everywhere once it is
//! in its area's list. Some of the results are checked in, such as the template, the watch routes
//! and the list of all operations: `cargo run -p infra -- render` writes these files and, with
//! `--check`, reports outdated ones.

pub mod all_operations;
pub mod binaries;
pub mod checked_in;
mod content_paths;
pub mod error_codes;
pub mod needs;
pub mod new;
pub mod openapi;
pub mod operation;
pub mod operations;
pub mod pages;
pub mod providers;
pub mod quotas;
pub mod reference;
mod render;
pub mod scorecard;
pub mod template;
pub mod watch;
pub mod workers;
mod workspace;

pub use operation::Operation;

/// The documents and events, as listed by `build.rs`.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}
