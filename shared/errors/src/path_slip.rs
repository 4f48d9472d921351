//! Likely mistakes in paths: the error describes the mistake without repeating the path.

use std::fmt;

/// A likely mistake in the path of a request. The description of the mistake is appended to the
/// message of the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathSlip {
    /// No known mistake.
    #[default]
    None,
    /// There is an operation at the path without the trailing slash.
    Slash,
    /// There is an operation with a similar path.
    Near {
        /// The method of that operation.
        verb: &'static str,
        /// The path of that operation, with `{param}` segments.
        path: &'static str,
    },
}

impl fmt::Display for PathSlip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Slash => f.write_str(": remove the trailing slash"),
            Self::Near { verb, path } => write!(f, ": did you mean {verb} {path}?"),
        }
    }
}
