//! What the path and the query of a request name.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Path};
use flows::App;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::form_urlencoded;
use utoipa::ToSchema;

use crate::content::error::Problem;
use crate::http::describe::{Describe, Described, Description};

/// The parameters of a path.
pub trait Missing {
    /// The problem if nothing has the name in the path.
    const PROBLEM: Problem;
}

/// Reads the parameters of a path. No name is rejected as malformed: one that is not UTF-8, for
/// example, just matches nothing.
#[derive(Debug)]
pub struct ContentPath<T>(pub T);

impl<T: DeserializeOwned + Missing + Send> FromRequestParts<App> for ContentPath<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, app).await;
        path.map(|Path(path)| Self(path)).map_err(|_| T::PROBLEM)
    }
}

impl<T: ToSchema> Describe for ContentPath<T> {
    fn describe(description: &mut Description) {
        description.path = Some(Described::of::<T>());
    }
}

/// Reads the parameters of a query. If one is malformed, all count as absent, and unknown ones are
/// ignored, as nothing in the query of public content is an error.
#[derive(Debug)]
pub struct ContentQuery<T>(pub T);

impl<T: DeserializeOwned + Default> FromRequestParts<App> for ContentQuery<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let query: Map<String, Value> = pairs.map(|(name, value)| (name.into_owned(), value.into())).collect();
        Ok(Self(serde_json::from_value(query.into()).unwrap_or_default()))
    }
}

impl<T: ToSchema> Describe for ContentQuery<T> {
    fn describe(description: &mut Description) {
        description.query = Some(Described::of::<T>());
    }
}

/// A number in a query; `None` if the text is absent or is not a whole number from 0.
pub fn number(text: Option<&str>) -> Option<usize> {
    text?.parse().ok()
}
