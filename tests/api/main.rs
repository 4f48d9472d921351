//! The API over HTTP. A module that is named after a folder of `functions/` tests the operations in
//! this folder. The other modules test several areas, or support the tests.
// `json!` recurses for each part of its value, and a whole project exceeds the default limit of
// 128.
#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a test fails if something is missing")]

mod access;
mod attacks;
mod audit;
mod auth;
mod bad_input;
mod challenges;
mod content;
mod costs;
mod edge;
mod emails;
mod events;
mod expiry;
mod faults;
mod hosted;
mod isolation;
mod key_permissions;
mod keys;
mod limits;
mod mails;
mod openid;
mod owners;
mod permissions;
mod preconditions;
mod projects;
mod quotas;
mod races;
mod secret_rotation;
mod stored;
mod teams;
mod trail;
mod users;
mod webhooks;
mod without_secret;
mod world_of_teams;
