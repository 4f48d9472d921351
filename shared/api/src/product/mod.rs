//! Code shared by the operations of the product API.
//!
//! The layer around an operation parses the body once, before access is checked. The layer also
//! shapes the response: error bodies, headers in the client's family, the status override for old
//! clients, CORS, and security headers.

pub mod access;
pub mod access_token;
pub mod admin_token;
pub mod client_input;
pub mod code_access;
pub mod cursor;
pub mod header_family;
pub mod input;
pub mod layer;
pub mod link_page;
pub mod named;
pub mod oauth_error;
pub mod page;
pub mod picture;
pub mod precondition;
pub mod prefetched;
mod reading;
pub mod trail;

pub use crate::product::access::{Access, Admin, Client, Server};
pub use crate::product::input::Input;
pub use crate::product::layer::{fallback_layer, layer, panicked, preflight};
pub use crate::product::reading::Anybody;
