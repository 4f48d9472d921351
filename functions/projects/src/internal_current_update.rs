//! `PATCH /api/v1/internal/projects/current`: changes settings of the project. If one of the
//! settings is invalid, nothing changes.

use std::sync::Arc;

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::context::Context;
use flows::providers::test_changed;
use model::project::config_patch::ConfigPatch;
use model::project::patch::ProjectPatch;
use model::project::signing_key::TokenAlgorithm;
use model::project::view::AdminProject;
use wire::change::Change;
use wire::problem::Problems;

pub const ROUTE: Route = Route::patch("projects-internal-current-update", "/api/v1/internal/projects/current")
    .summary("Changes settings of the project")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::InvalidSharedOauthProviderId, ErrorCode::OauthProviderMisconfigured]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, .. }: Input<ProjectPatch>,
) -> Result<VersionedResponse<Json<AdminProject>>, Error> {
    if_match.check(access.project_version)?;
    check_theme(&access, &body).await?;
    check_algorithm(&access, &body).await?;
    let Context { project, project_version, .. } = access.into_context();
    let (deployment, keys) = (app.deployment(), body.keys());
    let levels = if keys.is_empty() { None } else { Some(app.store.levels(&project).await?) };
    if let Some(provider_id) = body.config.as_ref().and_then(ConfigPatch::unshareable_provider) {
        return Err(KnownError::InvalidSharedOauthProviderId { provider_id: provider_id.to_owned() }.into());
    }
    let before = Arc::clone(&project);
    let project = body.apply(Arc::unwrap_or_clone(project), &deployment);
    let project = project.map_err(|error| ROUTE.schema_error(&Problems::one(&format!("body.{}", error.path), error.message)))?;
    test_changed(&app, &project.id, &before.config, &project.config).await?;
    let levels = levels.map(|levels| levels.noted(&project, &keys));
    if_match.lost(app.store.update_project(&project, project_version, levels.as_ref()).await)?;
    let response = Json(AdminProject::of(&project, app.settings.development));
    Ok(VersionedResponse { response, version: project_version + 1 })
}

/// Checks that the project has an RSA key if its access tokens are to be signed with RS256.
async fn check_algorithm(access: &Access<Admin>, body: &ProjectPatch) -> Result<(), Error> {
    if body.access_token_algorithm != Some(TokenAlgorithm::Rs256) || access.project.access_token_algorithm == TokenAlgorithm::Rs256 {
        return Ok(());
    }
    let keys = access.app.store.rsa_keys(&access.project.id).await?.keys;
    if keys.signing(access.app.clock.now()).is_some() {
        return Ok(());
    }
    let problem = "cannot be RS256 before the project has an RSA key: create one with POST /api/v1/internal/signing-keys";
    Err(ROUTE.schema_error(&Problems::one("body.access_token_algorithm", problem)).into())
}

/// Checks that the default email theme exists. If the theme is deleted later, the built-in theme is
/// used.
async fn check_theme(access: &Access<Admin>, body: &ProjectPatch) -> Result<(), Error> {
    match body.config.as_ref().map(|config| &config.email_theme) {
        Some(Change::Set(theme)) if !access.app.store.has_theme(&access.project.id, theme.0).await? => {
            Err(ROUTE.schema_error(&Problems::one("body.config.email_theme", "must be the id of a theme")).into())
        }
        _ => Ok(()),
    }
}
