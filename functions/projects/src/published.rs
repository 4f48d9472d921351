//! What the public documents of a project have in common: they exist as long as the project does,
//! and can be cached for an hour.

use errors::{Error, KnownError};
use flows::App;
use http::header::{self, HeaderName};
use model::project::Project;
use wire::id::ProjectId;

/// The header of a document that can be cached for an hour.
pub(crate) const FOR_AN_HOUR: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "public, max-age=3600")];

/// The project with this id in the path; one round trip.
pub(crate) async fn project(app: &App, id: &str) -> Result<Project, Error> {
    let unknown = || KnownError::ProjectNotFound { project_id: id.to_owned() };
    let parsed = ProjectId::parse(id).map_err(|_| unknown())?;
    Ok(app.store.project(&parsed).await?.ok_or_else(unknown)?.project)
}
