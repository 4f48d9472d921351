//! Outgoing calls: TLS, requests to OAuth providers, Turnstile and webhook endpoints, and the IP
//! addresses allowed for calls on behalf of a project.

#![warn(missing_docs)]

mod answer;
#[cfg(test)]
mod attempts_tests;
pub mod connector;
pub mod limited;
mod lookups;
pub mod mail_server;
pub mod outgoing;
#[cfg(test)]
mod pool_tests;
pub mod proxy;
pub mod public_address;
#[cfg(test)]
mod rebinding;
mod resolver;
#[cfg(test)]
mod test_time;
pub mod tls;
#[cfg(test)]
mod tunnel_tests;
pub mod webhook;
