//! Interface B: what every one of its operations shares.
//!
//! The layer around an operation reads the body once, before anything is decided, and shapes the answer: error envelope, the header
//! families' own names, the status that old clients want overridden, CORS, and the headers of security.

pub mod access;
mod access_token;
pub mod accounts;
mod admin_token;
#[cfg(feature = "oauth")]
pub mod bot_challenge;
pub mod code_access;
pub mod context;
pub mod current_user;
pub mod cursor;
pub mod error;
pub mod family;
pub mod input;
pub(crate) mod layer;
pub mod limits;
pub mod link_page;
pub mod literal;
mod named;
pub mod oauth_error;
pub mod page;
pub mod teams;
pub mod trail;

pub use access::{Access, Admin, Client, Server};
pub use input::Input;
pub use layer::{fallback_layer, layer, panicked, preflight};
