//! Pages that links in emails lead to.

pub(crate) mod not_me;
