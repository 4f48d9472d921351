//! Outgoing calls: TLS; requests to OAuth providers, Turnstile and webhook endpoints; and the IP
//! addresses that may be called on behalf of a project.

#![warn(missing_docs)]

mod answer;
pub mod connector;
pub mod limited;
mod lookups;
pub mod mail_server;
pub mod outgoing;
pub mod proxy;
pub mod public_address;
#[cfg(test)]
mod rebinding;
mod resolver;
#[cfg(test)]
mod test_time;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod webhook;
