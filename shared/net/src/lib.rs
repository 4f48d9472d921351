//! Outgoing calls: TLS, requests to OAuth providers, Turnstile and webhook endpoints, and the IP
//! addresses that may be called on behalf of a project.

#![warn(missing_docs)]

mod answer;
#[cfg(test)]
mod attempts_tests;
pub mod connector;
mod lookups;
pub mod outgoing;
pub mod proxy;
pub mod public_address;
#[cfg(test)]
mod rebinding;
mod resolver;
pub mod tls;
#[cfg(test)]
mod tunnel_tests;
pub mod webhook;
