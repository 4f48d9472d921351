//! Owners of projects.

pub(crate) mod teams;
