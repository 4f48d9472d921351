//! Validation of requests and configuration: every problem is reported, each with the path of its
//! value.

use std::convert::Infallible;
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;

use deserr::{DeserializeError, ErrorKind, IntoValue, MergeWithError, ValueKind, ValuePointerRef, take_cf_content};

/// One invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    path: String,
    message: String,
}

/// All invalid values of a request, or of a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// A single problem found after the schema check. `path` includes the part of the request, as
    /// in `body.user_ids`, unless [`Self::within`] or [`Self::of_body`] adds the part later.
    pub fn one(path: &str, message: impl Display) -> Self {
        Self(vec![Problem { path: path.to_owned(), message: message.to_string() }])
    }

    /// The same problems, with paths that start with `body`.
    pub fn of_body(self) -> Self {
        self.within("body")
    }

    /// The same problems, with paths that start with `part`.
    pub fn within(mut self, part: &str) -> Self {
        for problem in &mut self.0 {
            let separator = if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
            problem.path = format!("{part}{separator}{}", problem.path);
        }
        self
    }

    /// One line for each problem: the path of the value, and what is expected.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|problem| format!("{} {}", problem.path, problem.message))
    }

    /// The problems of several parts, in the given order.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().flat_map(|part| part.0).collect())
    }
}

/// An error for a value that has the right type but is not acceptable.
pub fn rejected<E: DeserializeError>(reason: &(impl Display + ?Sized), location: ValuePointerRef<'_>) -> E {
    take_cf_content(E::error::<Infallible>(None, ErrorKind::Unexpected { msg: reason.to_string() }, location))
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
            before if before.is_empty() => key.to_owned(),
            before => format!("{before}.{key}"),
        },
    }
}

impl DeserializeError for Problems {
    fn error<V: IntoValue>(self_: Option<Self>, error: ErrorKind<'_, V>, location: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let below = |key: &str| path_of(ValuePointerRef::Key { key, prev: &location });
        let problem = match error {
            ErrorKind::IncorrectValueKind { actual, accepted } => {
                let accepted: Vec<&str> = accepted.iter().map(|kind| kind_name(*kind)).collect();
                Problem { path: path_of(location), message: format!("must be {}, not {}", accepted.join(" or "), kind_name(actual.kind())) }
            }
            ErrorKind::MissingField { field } => Problem { path: below(field), message: "is required".to_owned() },
            ErrorKind::UnknownKey { key, .. } => Problem { path: below(key), message: "is not known".to_owned() },
            ErrorKind::UnknownValue { accepted, .. } => {
                Problem { path: path_of(location), message: format!("must be one of {}", accepted.join(", ")) }
            }
            ErrorKind::BadSequenceLen { expected, .. } => {
                Problem { path: path_of(location), message: format!("must have {expected} elements") }
            }
            ErrorKind::Unexpected { msg } => Problem { path: path_of(location), message: msg },
        };
        let mut problems = self_.unwrap_or_default();
        problems.0.push(problem);
        ControlFlow::Continue(problems)
    }
}

impl MergeWithError<Problems> for Problems {
    fn merge(self_: Option<Self>, other: Self, _: ValuePointerRef<'_>) -> ControlFlow<Self, Self> {
        let mut problems = self_.unwrap_or_default();
        problems.0.extend(other.0);
        ControlFlow::Continue(problems)
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("; "))
    }
}
