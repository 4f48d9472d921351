//! Redirects from the key sets of restricted and anonymous users to the project's key set.

use api::http::{Describe, Description};
use api::product::input::ProjectPath;
use axum::response::{IntoResponse, Response};
use errors::{Error, KnownError};
use flows::App;
use http::{StatusCode, header};
use wire::id::ProjectId;

use crate::published::FOR_AN_HOUR;

/// A redirect to a key set. Like the key set, the redirect can be cached for an hour.
pub struct KeySetRedirect(String);

impl KeySetRedirect {
    /// Redirects to the keys of a project, with a query parameter that requests additional keys.
    /// The target checks that the project exists.
    pub(crate) fn from_path(app: &App, path: &ProjectPath, flag: &str) -> Result<Self, Error> {
        let unknown = || KnownError::ProjectNotFound { project_id: path.project_id.clone() };
        let id = ProjectId::parse(&path.project_id).map_err(|_| unknown())?;
        Ok(Self(format!("{}/api/v1/projects/{id}/.well-known/jwks.json?{flag}=true", app.settings.api_url)))
    }
}

impl IntoResponse for KeySetRedirect {
    fn into_response(self) -> Response {
        (StatusCode::TEMPORARY_REDIRECT, FOR_AN_HOUR, [(header::LOCATION, self.0)]).into_response()
    }
}

impl Describe for KeySetRedirect {
    fn describe(description: &mut Description) {
        description.status = Some(307);
    }
}
