//! Lengths of passwords, in characters.

/// The lowest minimum length that a project may set, in characters.
pub const MIN_LENGTH: usize = 8;

/// The maximum length of a password, in characters.
pub const MAX_LENGTH: usize = 128;
