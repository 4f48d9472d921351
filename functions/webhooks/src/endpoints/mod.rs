//! Modules shared by the operations on webhook endpoints.

pub(crate) mod input;
