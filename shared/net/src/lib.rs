//! Outgoing calls: TLS, requests to OAuth providers, Turnstile and webhook endpoints, and the IP
//! addresses that may be called on behalf of a project.

#![warn(missing_docs)]

mod lookups;
pub mod outgoing;
pub mod public_address;
#[cfg(test)]
mod rebinding;
mod resolver;
pub mod tls;
pub mod webhook;
