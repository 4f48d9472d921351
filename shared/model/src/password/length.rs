//! How long passwords are, in characters.

/// Shortest password that a project may accept, in characters.
pub const MIN_LENGTH: usize = 8;

/// Longest password, in characters.
pub const MAX_LENGTH: usize = 128;
