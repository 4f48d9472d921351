//! The responses of an operation, as declared by its route.

use errors::ErrorCode;

/// The maximum number of error groups per route.
const GROUPS: usize = 3;

/// The responses of an operation, except those common to its interface.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The media types of the documents that the operation responds with, as listed in the API
    /// document.
    pub media: &'static [&'static str],
    /// Whether responses take a minimum time, so that they do not reveal whether an account exists.
    pub hides_accounts: bool,
    /// Codes of the operation's own errors.
    pub(super) errors: [&'static [ErrorCode]; GROUPS],
    /// The codes of the operation's own errors, if it belongs to the content API.
    pub(super) problems: &'static [&'static str],
}

impl Answer {
    pub(super) const fn new() -> Self {
        Self { media: &[], hides_accounts: false, errors: [&[]; GROUPS], problems: &[] }
    }

    /// Adds a group of the operation's own errors.
    pub(super) const fn errors(mut self, errors: &'static [ErrorCode]) -> Self {
        let mut group = 0;
        while group < GROUPS && !self.errors[group].is_empty() {
            group += 1;
        }
        assert!(group < GROUPS, "a route has at most three groups of errors: put the codes of this `.errors(…)` into one of the others");
        self.errors[group] = errors;
        self
    }

    /// The codes of the operation's own errors, as they appear on the wire.
    pub(super) fn codes(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.errors.into_iter().flatten().map(|code| code.name()).chain(self.problems.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERRORS: &[ErrorCode] = &[ErrorCode::UserNotFound];

    #[test]
    #[should_panic(expected = "at most three groups of errors: put the codes")]
    fn a_group_of_errors_too_many_is_refused_with_advice() {
        let full = Answer::new().errors(ERRORS).errors(ERRORS).errors(ERRORS);
        assert_eq!(full.codes().count(), 3);
        full.errors(ERRORS);
    }
}
