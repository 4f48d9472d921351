//! Identifies the project of an OAuth client, and checks the client's key.

use errors::{Error, KnownError};
use flows::context::Scope;
use flows::limits;
use model::project::{ApiKey, KeyKind};
use wire::id::ProjectId;

/// The project that a client id names. The client id is the project's id, optionally followed by
/// `#main`, which is the name of the project's only branch.
pub(crate) fn client_project(client_id: &str) -> Option<ProjectId> {
    let id = client_id.strip_suffix("#main").unwrap_or(client_id);
    ProjectId::parse(id).ok()
}

/// Checks the client's key. A wrong key counts towards a limit and causes the error `wrong`. A
/// missing key is an error if the project requires a key.
pub(crate) async fn prove_client(
    Scope { app, project, place }: Scope<'_>,
    has_secret: bool,
    key: Option<&ApiKey>,
    wrong: impl Fn() -> KnownError,
) -> Result<(), Error> {
    let opens = key.is_some_and(|key| key.opens(KeyKind::PublishableClient, app.clock.now()));
    match (has_secret, opens) {
        (true, true) => Ok(()),
        (true, false) => {
            limits::unproved(app, Some(&project.id), place).await?;
            Err(wrong().into())
        }
        (false, _) if project.config.require_publishable_client_key => {
            Err(KnownError::PublishableClientKeyRequiredForProject { project_id: Some(project.id.to_string()) }.into())
        }
        (false, _) => Ok(()),
    }
}
