//! The API over HTTP. The modules mirror `functions/`.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test ends where something is missing")]

mod auth;
mod content;
mod emails;
mod mails;
mod projects;
mod users;
