//! The parts of the response with figures about a project ([`crate::internal_metrics`]).

pub(crate) mod absent;
pub(crate) mod emails;
pub(crate) mod series;
pub(crate) mod users;
