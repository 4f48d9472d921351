//! The entries of the catalog of errors, for the documentation.

use http::StatusCode;

use crate::known::KnownError;

/// A code, as the documentation lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The code on the wire.
    pub code: &'static str,
    /// The HTTP status.
    pub status: StatusCode,
    /// When the error is returned.
    pub meaning: &'static str,
    /// What the developer who gets the error can do.
    pub hint: &'static str,
}

impl KnownError {
    /// Every code once.
    pub fn catalog() -> impl Iterator<Item = Entry> {
        Self::samples().map(|error| Entry { code: error.code(), status: error.status(), meaning: error.meaning(), hint: error.hint() })
    }
}
