//! Flows that several operations share; they do not depend on HTTP.

#![warn(missing_docs)]

pub mod accounts;
pub mod app;
pub mod bot_challenge;
pub mod context;
pub mod current_user;
pub mod email;
pub mod limits;
pub mod literal;
pub mod memory;
pub mod proofs;
pub mod quota;
pub mod rejections;
pub mod teams;
mod tokens;
pub mod webhook;

pub use app::App;
pub use context::Context;
