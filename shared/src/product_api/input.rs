//! What a request brings: path, query and body, read as a whole, with every problem named.

use std::convert::Infallible;
use std::fmt::{Display, Write as _};
use std::ops::ControlFlow;
use std::str::FromStr;

use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use deserr::{
    DeserializeError, Deserr, ErrorKind, IntoValue, Map as _, MergeWithError, Value, ValueKind, ValuePointerRef, take_cf_content,
};
use serde_json::{Map, Value as Json};
use utoipa::ToSchema;

use super::error::KnownError;
use crate::http::describe::{Describe, Described, Description};

/// The path parameters, the query and the body of a request, each a type of the operation.
#[derive(Debug)]
pub struct Input<B = Ignored, Q = Nothing, P = Nothing> {
    pub body: B,
    pub query: Q,
    pub path: P,
}

/// No field at all: every key of a query or a path is a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct Nothing {}

/// The body of an operation that takes none, whatever it is: SDKs send `{}`, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct Ignored {}

/// The body as the layer read it: `None` when there was none.
#[derive(Debug, Clone)]
pub struct ParsedBody(pub Option<Json>);

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Problem {
    path: String,
    message: String,
}

/// Everything that is wrong with a part of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// A problem that is found after the schema: `path` begins with its part, as in `body.user_ids`.
    pub fn one(path: &str, message: impl Display) -> Self {
        Self(vec![Problem { path: path.to_owned(), message: message.to_string() }])
    }

    pub fn of_body(self) -> Self {
        self.within("body")
    }

    /// The same problems with a part of a request: `part` is before their paths.
    pub fn within(mut self, part: &str) -> Self {
        for problem in &mut self.0 {
            let separator = if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
            problem.path = format!("{part}{separator}{}", problem.path);
        }
        self
    }

    pub fn into_error(self, method: &str, path: &str) -> KnownError {
        let mut message = format!("the request {method} {path} does not fit its schema:");
        for problem in self.0 {
            let _ = write!(message, "\n  - {} {}", problem.path, problem.message);
        }
        KnownError::SchemaError { message }
    }
}

/// The error of a value that has the right kind and is not acceptable.
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

impl Deserr<Problems> for Nothing {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, Problems> {
        let Value::Map(map) = value else { return Ok(Self {}) };
        let unknown = map.into_iter().fold(None, |problems, (key, _)| {
            Some(take_cf_content(Problems::error::<Infallible>(problems, ErrorKind::UnknownKey { key: &key, accepted: &[] }, location)))
        });
        unknown.map_or(Ok(Self {}), Err)
    }
}

impl Deserr<Problems> for Ignored {
    fn deserialize_from_value<V: IntoValue>(_: Value<V>, _: ValuePointerRef<'_>) -> Result<Self, Problems> {
        Ok(Self {})
    }
}

/// A query or path parameter of another type than text, read from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct Param<T>(pub T);

impl<T: FromStr<Err: Display>, E: DeserializeError> Deserr<E> for Param<T> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        text.parse().map(Self).map_err(|error| rejected(&error, location))
    }
}

impl<B, Q, P, S> FromRequest<S> for Input<B, Q, P>
where
    B: Deserr<Problems>,
    Q: Deserr<Problems>,
    P: Deserr<Problems>,
    S: Send + Sync,
{
    type Rejection = KnownError;

    async fn from_request(request: Request, state: &S) -> Result<Self, KnownError> {
        let (mut parts, _) = request.into_parts();
        let names = RawPathParams::from_request_parts(&mut parts, state).await.map_err(|_| KnownError::RouteNotFound)?;
        let path: Map<String, Json> = names.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        // The last of repeated keys wins.
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let query: Map<String, Json> = query.map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect();
        let body = parts.extensions.remove::<ParsedBody>().and_then(|body| body.0).unwrap_or(Json::Null);

        let path = deserr::deserialize::<P, _, Problems>(Json::Object(path)).map_err(|problems| problems.within("params"));
        let query = deserr::deserialize::<Q, _, Problems>(Json::Object(query)).map_err(|problems| problems.within("query"));
        let body = deserr::deserialize::<B, _, Problems>(body).map_err(Problems::of_body);
        match (body, query, path) {
            (Ok(body), Ok(query), Ok(path)) => Ok(Self { body, query, path }),
            (body, query, path) => {
                let problems = [body.err(), query.err(), path.err()].into_iter().flatten().flat_map(|problems| problems.0);
                Err(Problems(problems.collect()).into_error(parts.method.as_str(), parts.uri.path()))
            }
        }
    }
}

fn described<T: ToSchema>() -> Option<Described> {
    let described = Described::of::<T>();
    (!matches!(described.name.as_str(), "Nothing" | "Ignored")).then_some(described)
}

impl<B: ToSchema, Q: ToSchema, P: ToSchema> Describe for Input<B, Q, P> {
    fn describe(description: &mut Description) {
        description.reads_input = true;
        description.body = described::<B>();
        description.query = described::<Q>();
        description.path = described::<P>();
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<String> = self.0.iter().map(|problem| format!("{} {}", problem.path, problem.message)).collect();
        f.write_str(&lines.join("; "))
    }
}
