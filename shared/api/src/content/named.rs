//! What the path of a request names.

use axum::extract::{FromRequestParts, Path};
use flows::App;
use http::request::Parts;
use serde::de::DeserializeOwned;
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
