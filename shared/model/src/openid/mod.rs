//! The project as an OpenID provider: the clients that its users can sign in to, what users have
//! granted them, and the requests for that.
//!
//! An authorization request is checked once, against its client, and then stored, so that only its
//! name travels through pages and emails ([`request`]). What follows from it for a visitor is a
//! pure function ([`decision`]). Consent is kept in one item for a user and a client ([`grant`]); a
//! session of the client is a session of the user like any other, and names the client.

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
