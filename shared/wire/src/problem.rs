//! Validation of requests and configuration: finds all problems and reports the first ones, each
//! with the path of its value.
//!
//! The report is short, no matter how many problems a request contains. If every problem were
//! reported, a small request could use up memory and bandwidth, because every element of a list may
//! be a problem.

use std::convert::Infallible;
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;

use deserr::{DeserializeError, ErrorKind, IntoValue, MergeWithError, ValueKind, ValuePointerRef, take_cf_content};
use serde::Serialize;

/// The maximum number of reported problems; additional problems are only counted.
const MAX_REPORTED: usize = 50;
/// The maximum length of the reported problems with their paths, in bytes, not counting the names
/// of a request's parts, such as `body`. The first problem is reported even if it is longer than
/// this maximum.
const MAX_BYTES: usize = 4096;
/// The maximum length of a field's name in a path, in characters. The sender of a request chooses
/// the names of unknown fields.
const MAX_NAME: usize = 64;

/// One invalid value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The path of the value, such as `body.config.domains[0].domain`.
    pub path: String,
    /// What is wrong with the value, such as `is required`. The text completes a sentence that
    /// begins with the path.
    pub problem: String,
}

/// The invalid values of a request or of a part of it: the first ones, and the number of the
/// remaining ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    reported: Vec<Problem>,
    /// The length of the reported problems in bytes.
    bytes: usize,
    /// The number of unreported problems.
    others: usize,
}

impl Problems {
    /// A single problem found after the schema check. `path` includes the part of the request, as
    /// in `body.user_ids`, unless [`Self::within`] or [`Self::in_body`] adds the part later.
    pub fn one(path: &str, message: impl Display) -> Self {
        Self::default().with(|| Problem { path: path.to_owned(), problem: message.to_string() })
    }

    /// These problems and another problem, which is built only if it may be reported.
    fn with(mut self, problem: impl FnOnce() -> Problem) -> Self {
        if self.is_full() {
            self.others += 1;
        } else {
            self.add(problem());
        }
        self
    }

    /// Whether the report is full. Once a problem is left out, all later problems are left out too,
    /// so that the reported problems are the first ones.
    fn is_full(&self) -> bool {
        self.others > 0 || self.reported.len() == MAX_REPORTED
    }

    fn add(&mut self, problem: Problem) {
        let bytes = self.bytes + problem.path.len() + problem.problem.len();
        if self.is_full() || (bytes > MAX_BYTES && !self.reported.is_empty()) {
            self.others += 1;
        } else {
            self.bytes = bytes;
            self.reported.push(problem);
        }
    }

    /// These problems, followed by the problems of another part.
    fn and(mut self, part: Self) -> Self {
        part.reported.into_iter().for_each(|problem| self.add(problem));
        self.others += part.others;
        self
    }

    /// The same problems, with paths that start with `body`.
    pub fn in_body(self) -> Self {
        self.within("body")
    }

    /// The same problems, with paths that start with `part`.
    pub fn within(mut self, part: &str) -> Self {
        for problem in &mut self.reported {
            let separator = if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
            problem.path = format!("{part}{separator}{}", problem.path);
        }
        self
    }

    /// The reported problems.
    pub fn reported(&self) -> &[Problem] {
        &self.reported
    }

    /// One line for each reported problem: the path of the value, and what is expected. If there
    /// are more problems, the last line contains their number.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let others = match self.others {
            0 => None,
            1 => Some("and 1 more problem".to_owned()),
            others => Some(format!("and {others} more problems")),
        };
        self.reported.iter().map(|problem| format!("{} {}", problem.path, problem.problem)).chain(others)
    }

    /// The problems of several parts, in the given order.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        parts.into_iter().fold(Self::default(), Self::and)
    }
}

/// An error for a value of the right type that is not acceptable.
pub fn rejected<E: DeserializeError>(reason: &(impl Display + ?Sized), location: ValuePointerRef<'_>) -> E {
    take_cf_content(E::error::<Infallible>(None, ErrorKind::Unexpected { msg: reason.to_string() }, location))
}

/// Implements `Deserr` for a type that a function creates from a simpler type. The function's error
/// completes a sentence that begins with the path of the value.
#[macro_export]
macro_rules! deserr_from {
    ($type:ty, $from:ty, $make:expr) => {
        impl<E: deserr::DeserializeError> deserr::Deserr<E> for $type {
            fn deserialize_from_value<V: deserr::IntoValue>(
                value: deserr::Value<V>,
                location: deserr::ValuePointerRef<'_>,
            ) -> Result<Self, E> {
                let make: fn($from) -> Result<Self, _> = $make;
                let value = <$from as deserr::Deserr<E>>::deserialize_from_value(value, location)?;
                make(value).map_err(|error| $crate::problem::rejected(&error, location))
            }
        }
    };
}

fn kind_name(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Null => "null",
        ValueKind::Boolean => "a boolean",
        ValueKind::Integer | ValueKind::NegativeInteger => "an integer",
        ValueKind::Float => "a number",
        ValueKind::String => "a string",
        ValueKind::Sequence => "an array",
        ValueKind::Map => "an object",
    }
}

fn path_of(location: ValuePointerRef<'_>) -> String {
    match location {
        ValuePointerRef::Origin => String::new(),
        ValuePointerRef::Index { index, prev } => format!("{}[{index}]", path_of(*prev)),
        ValuePointerRef::Key { key, prev } => match path_of(*prev) {
            before if before.is_empty() => shown(key),
            before => format!("{before}.{}", shown(key)),
        },
    }
}

/// A field's name for messages: one line without control characters, cut if it is long.
fn shown(name: &str) -> String {
    let end = name.chars().nth(MAX_NAME).map(|_| '…');
    name.chars().take(MAX_NAME).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).chain(end).collect()
}

impl DeserializeError for Problems {
    fn error<V: IntoValue>(self_: Option<Self>, error: ErrorKind<'_, V>, location: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let below = |key: &str| path_of(ValuePointerRef::Key { key, prev: &location });
        let problem = || match error {
            ErrorKind::IncorrectValueKind { actual, accepted } => {
                let accepted: Vec<&str> = accepted.iter().map(|kind| kind_name(*kind)).collect();
                Problem { path: path_of(location), problem: format!("must be {}, not {}", accepted.join(" or "), kind_name(actual.kind())) }
            }
            ErrorKind::MissingField { field } => Problem { path: below(field), problem: "is required".to_owned() },
            ErrorKind::UnknownKey { key, .. } => Problem { path: below(key), problem: "is not known".to_owned() },
            ErrorKind::UnknownValue { accepted, .. } => {
                Problem { path: path_of(location), problem: format!("must be one of {}", accepted.join(", ")) }
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                Problem { path: path_of(location), problem: format!("must have {expected} elements") }
            }
            ErrorKind::Unexpected { msg } => Problem { path: path_of(location), problem: msg },
        };
        ControlFlow::Continue(self_.unwrap_or_default().with(problem))
    }
}

impl MergeWithError<Problems> for Problems {
    fn merge(self_: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        ControlFlow::Continue(self_.unwrap_or_default().and(other))
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Problems {
        Problems::all((0..count).map(|number| Problems::one(&number.to_string(), "is wrong")))
    }

    fn unknown(problems: Problems, key: &str) -> Problems {
        let error = ErrorKind::UnknownKey { key, accepted: &[] };
        take_cf_content(Problems::error::<Infallible>(Some(problems), error, ValuePointerRef::Origin))
    }

    #[test]
    fn the_first_problems_are_reported_and_the_others_counted() {
        let lines: Vec<String> = numbered(MAX_REPORTED).in_body().lines().collect();
        assert_eq!((lines.len(), lines[49].as_str()), (50, "body.49 is wrong"));
        assert_eq!(numbered(51).lines().last().as_deref(), Some("and 1 more problem"));
        let both = Problems::all([numbered(40), numbered(60), numbered(7)]);
        let lines: Vec<String> = both.lines().collect();
        assert_eq!((lines.len(), lines[40].as_str(), lines[50].as_str()), (51, "0 is wrong", "and 57 more problems"));
        assert_eq!(unknown(both, "x").lines().last().as_deref(), Some("and 58 more problems"));
    }

    #[test]
    fn long_problems_are_reported_up_to_a_length() {
        let long = |letter: &str| Problems::one("a", letter.repeat(MAX_BYTES / 2));
        let problems = Problems::all([long("b"), long("c"), Problems::one("a", "is wrong")]);
        let lines: Vec<String> = problems.lines().collect();
        assert_eq!((lines.len(), lines[1].as_str()), (2, "and 2 more problems"), "the reported ones are the first");
        assert_eq!(Problems::one("a", "b".repeat(MAX_BYTES + 1)).lines().count(), 1);
    }

    #[test]
    fn names_of_unknown_fields_are_cut_and_have_no_control_characters() {
        let line = |key: &str| unknown(Problems::default(), key).to_string();
        assert_eq!(line(&"ä".repeat(64)), format!("{} is not known", "ä".repeat(64)));
        assert_eq!(line(&"ä".repeat(65)), format!("{}… is not known", "ä".repeat(64)));
        assert_eq!(line("a\n  - body.b"), "a\u{fffd}  - body.b is not known");
    }
}
