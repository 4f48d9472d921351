//! Who owns projects.

pub(crate) mod teams;
