//! `POST /api/v1/internal/projects`: creates a project that one of the caller's teams in the
//! project `internal` owns. The project has no keys yet. With the access token of this request, the
//! caller can access the project and create keys.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::providers::test_changed;
use model::project::ProjectConfig;
use model::project::config_patch::ConfigPatch;
use model::project::creation::NewProject;
use model::project::view::AdminProject;
use store::Label;
use store::table::MAX_ATTEMPTS;
use wire::id::ProjectId;
use wire::problem::Problems;

use crate::owners::teams::{make_room, owner};

pub const ROUTE: Route = Route::post("projects-internal-create", "/api/v1/internal/projects")
    .summary("Creates a project")
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::ExpectedInternalProject,
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamMembershipNotFound,
        ErrorCode::InvalidSharedOauthProviderId,
        ErrorCode::OauthProviderMisconfigured,
        ErrorCode::TooManyProjects,
    ]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<NewProject>,
) -> Result<CreatedJson<AdminProject>, Error> {
    let user = owner(&access)?.id;
    let team = body.owner_team_id;
    let deployment = app.deployment();
    if let Some(provider_id) = body.config.as_ref().and_then(ConfigPatch::unshareable_provider) {
        return Err(KnownError::InvalidSharedOauthProviderId { provider_id: provider_id.to_owned() }.into());
    }
    let project = body.create(ProjectId::from(app.entropy.uuid()), &deployment, app.clock.now());
    let (project, levels) = project.map_err(|error| ROUTE.schema_error(&Problems::one(&format!("body.{}", error.path), error.message)))?;
    test_changed(&app, &access.project.id, &ProjectConfig::default(), &project.config).await?;
    let not_in_team = || Error::from(KnownError::TeamMembershipNotFound { team_id: team.to_string(), user_id: user.to_string() });
    for _ in 0..MAX_ATTEMPTS {
        match app.store.create_owned_project(&project, &levels, team, user).await {
            Ok(()) => return Ok(CreatedJson(AdminProject::of(&project, app.settings.development))),
            Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Count) => make_room(&app, team, not_in_team).await?,
            Err(store::Error::Conflict(_)) => return Err(not_in_team()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(KnownError::ServiceUnavailable.into())
}
