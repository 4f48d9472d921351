//! The input of a request: path, query and body, parsed together so that an error names every
//! problem.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use deserr::{DeserializeError, Deserr, ErrorKind, IntoValue, Map as _, Value, ValuePointerRef, take_cf_content};
use errors::{KnownError, PathSlip};
use model::user::reference::UserRef;
use serde_json::{Map, Value as Json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use wire::problem::{Problems, rejected};

use crate::http::describe::{Describe, Description, SchemaParts};

/// The path parameters, the query and the body of a request; the operation defines the types.
#[derive(Debug)]
pub struct Input<B = IgnoredBody, Q = Nothing, P = Nothing> {
    /// The body.
    pub body: B,
    /// The query; if a key is repeated, its last value counts.
    pub query: Q,
    /// The path parameters.
    pub path: P,
}

/// A query or path that must not contain any parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct Nothing {}

/// The body of a request to an operation without input. Any body is ignored, because SDKs send `{}`
/// or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(as = Ignored)]
pub struct IgnoredBody {}

/// The path of an operation on a user.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub user_id: UserRef,
}

/// The path of an operation that names a project.
#[derive(Debug, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPath {
    /// The project's id.
    pub project_id: String,
}

/// A body that may be absent; an absent body counts as an empty object.
#[derive(Debug)]
pub struct OrEmpty<B>(pub B);

impl<B: Deserr<Problems> + Default> Deserr<Problems> for OrEmpty<B> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, Problems> {
        match value {
            Value::Null => Ok(Self(B::default())),
            value => B::deserialize_from_value(value, location).map(Self),
        }
    }
}

impl<B: PartialSchema> PartialSchema for OrEmpty<B> {
    fn schema() -> RefOr<Schema> {
        B::schema()
    }
}

impl<B: ToSchema> ToSchema for OrEmpty<B> {
    fn name() -> Cow<'static, str> {
        B::name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        B::schemas(schemas);
    }
}

/// The body, parsed by the layer.
#[derive(Debug, Clone)]
pub struct ParsedBody {
    /// The JSON value; `None` if the body is absent or was not read.
    pub json: Option<Json>,
    /// The length of the body as sent, in bytes.
    pub bytes: usize,
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

impl Deserr<Problems> for IgnoredBody {
    fn deserialize_from_value<V: IntoValue>(_: Value<V>, _: ValuePointerRef<'_>) -> Result<Self, Problems> {
        Ok(Self {})
    }
}

/// A query or path parameter that is not a string, parsed from its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
pub struct Param<T>(pub T);

impl<T: FromStr<Err: Display>, E: DeserializeError> Deserr<E> for Param<T> {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        text.parse().map(Self).map_err(|error| rejected(&error, location))
    }
}

/// A query parameter that is `true` or `false`; if it is absent, it is `false`
/// (`#[wire::optional]`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flag(bool);

impl Flag {
    /// Whether the parameter is `true`.
    pub fn is_set(self) -> bool {
        self.0
    }
}

impl<E: DeserializeError> Deserr<E> for Flag {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        Param::deserialize_from_value(value, location).map(|Param(flag)| Self(flag))
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
        let names = RawPathParams::from_request_parts(&mut parts, state).await.map_err(|_| KnownError::RouteNotFound(PathSlip::None))?;
        let path: Map<String, Json> = names.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        // If a key is repeated, its last value counts.
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let query: Map<String, Json> = query.map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect();
        let body = parts.extensions.remove::<ParsedBody>().and_then(|body| body.json).unwrap_or(Json::Null);

        let path = deserr::deserialize::<P, _, Problems>(Json::Object(path)).map_err(|problems| problems.within("params"));
        let query = deserr::deserialize::<Q, _, Problems>(Json::Object(query)).map_err(|problems| problems.within("query"));
        let body = deserr::deserialize::<B, _, Problems>(body).map_err(Problems::in_body);
        match (body, query, path) {
            (Ok(body), Ok(query), Ok(path)) => Ok(Self { body, query, path }),
            (body, query, path) => {
                let problems = Problems::all([body.err(), query.err(), path.err()].into_iter().flatten());
                Err(KnownError::schema(&problems, parts.method.as_str(), parts.uri.path()))
            }
        }
    }
}

fn described<T: ToSchema>() -> Option<SchemaParts> {
    let described = SchemaParts::of::<T>();
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
