//! Sign-ins of command-line tools.

pub(crate) mod fetch;
pub(crate) mod session;
