//! Administers a deployment over its API after `gateway login`, with the rights of a user of the
//! project `internal`. Needs neither the data folder nor AWS credentials.

mod administrator;
mod api;
pub(super) mod call;
pub(super) mod login;
mod logins;
pub(super) mod output;
mod session;

pub(super) use administrator::{Administrator, CommonOptions, ItemChoice, ListOptions, ProjectChoice};
pub(super) use session::Session;
