//! Flows shared by several operations, independent of HTTP.

#![warn(missing_docs)]

pub mod accounts;
pub mod activity;
pub mod app;
pub mod bot_challenge;
pub mod catalogue;
pub mod context;
pub mod current_user;
pub mod email;
pub mod limits;
pub mod literal;
pub mod memory;
pub mod new_owner;
pub mod openid;
pub mod proofs;
pub mod providers;
pub mod quota;
pub mod rejections;
pub mod sign_up_rules;
pub mod signing_keys;
pub mod teams;
mod tokens;
pub mod webhook;

pub use app::App;
pub use context::Context;
