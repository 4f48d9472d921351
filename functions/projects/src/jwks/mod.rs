//! Key sets.

pub(crate) mod elsewhere;
