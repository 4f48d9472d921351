//! A deployment that `gateway login` signed in to, administered over its API: without its data
//! folder, without AWS credentials, and with the rights of a user of the project `internal`.

mod administrator;
mod api;
pub(super) mod call;
pub(super) mod login;
mod logins;
pub(super) mod output;
mod session;

pub(super) use administrator::{Administrator, Common, Listed, Of, One};
pub(super) use session::Session;
