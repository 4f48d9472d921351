//! Code shared by the public documents of a project, which exist as long as the project and can be
//! cached for an hour.

use errors::{Error, KnownError};
use flows::App;
use http::header::{self, HeaderName};
use model::project::Project;
use model::project::signing_key::RsaKeys;
use wire::id::ProjectId;

/// The header of a document that can be cached for an hour.
pub(crate) const FOR_AN_HOUR: [(HeaderName, &str); 1] = [(header::CACHE_CONTROL, "public, max-age=3600")];

/// Reads the project whose id is in the path, in one round trip.
pub(crate) async fn project(app: &App, id: &str) -> Result<Project, Error> {
    let row = app.store.project(&parse(id)?).await?;
    Ok(row.ok_or_else(|| unknown(id))?.project)
}

/// Reads the project whose id is in the path, and its RSA keys, in one round trip.
pub(crate) async fn project_and_rsa_keys(app: &App, id: &str) -> Result<(Project, RsaKeys), Error> {
    let found = app.store.project_and_rsa_keys(&parse(id)?).await?;
    Ok(found.ok_or_else(|| unknown(id))?)
}

fn parse(id: &str) -> Result<ProjectId, KnownError> {
    ProjectId::parse(id).map_err(|_| unknown(id))
}

fn unknown(id: &str) -> KnownError {
    KnownError::ProjectNotFound { project_id: id.to_owned() }
}
