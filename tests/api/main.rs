//! The API over HTTP. The modules mirror `functions/`.
#![expect(clippy::unwrap_used, reason = "a test ends where something is missing")]

mod access;
mod auth;
mod bad_input;
mod content;
mod costs;
mod edge;
mod emails;
mod events;
mod mails;
mod projects;
mod stored;
mod users;
