//! Everything that is derived from the operations, except for the gateway: the deployment template,
//! the routes of `cargo lambda watch`, the OpenAPI document, its reference pages and the list of
//! operations. The crate also contains the other pages of a gateway, the documents about error
//! codes and security standards, and `infra new`.
//!
//! The operations come from [`operations::all`], so a new operation appears everywhere once its
//! area lists it. Some of the results are checked in, for example the template, the watch routes
//! and the list of all operations: `cargo run -p infra -- render` writes these files. With
//! `--check`, the command reports outdated files instead.

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

/// The documents and events listed by `build.rs`.
mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}
