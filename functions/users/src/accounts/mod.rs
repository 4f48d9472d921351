//! What operations on users do alike.

pub(crate) mod change;
pub(crate) mod paths;
