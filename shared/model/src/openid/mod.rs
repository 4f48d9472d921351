//! The project as an OpenID provider: the clients that its users can sign in to, the grants of
//! users to clients, and authorization requests.
//!
//! An authorization request is checked once, against its client, and then stored; pages and emails
//! contain only the request's name ([`request`]). A pure function decides how the request continues
//! for a visitor ([`decision`]). A user's consent to a client is stored in a single item
//! ([`grant`]). A session of a client is an ordinary session of the user, and records the client.
//!
//! An access token is valid for one resource: a service of the project's developers, such as an MCP
//! server ([`resource`]). Without a resource, the token is for the project or for its userinfo
//! endpoint.

pub mod client;
pub mod client_input;
pub mod client_view;
pub mod code;
pub mod decision;
#[cfg(test)]
mod decision_tests;
pub mod document;
pub mod grant;
pub mod metadata;
pub mod parameters;
pub mod redirect_uri;
pub mod request;
pub mod resource;
pub mod resource_input;
