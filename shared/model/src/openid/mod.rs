//! The project as an OpenID provider: the clients that its users can sign in to, the grants of
//! users to clients, and authorization requests.
//!
//! An authorization request is checked once, against its client, and then stored; pages and emails
//! contain only the request's name ([`request`]). A pure function decides how the request continues
//! for a visitor ([`decision`]). A user's consent to a client is stored in a single item
//! ([`grant`]). A session of a client is an ordinary session of the user, and records the client.

pub mod client;
pub mod client_input;
pub mod code;
pub mod decision;
#[cfg(test)]
mod decision_tests;
pub mod grant;
pub mod metadata;
pub mod parameters;
pub mod redirect_uri;
pub mod request;
