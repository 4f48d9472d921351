//! `POST /api/v1/internal/projects/transfer`: transfers a project between two of the caller's teams
//! in the project `internal`.
//!
//! Only members of the owning team who may delete the team can transfer its projects. To a caller
//! who is not in the owning team, the response says that the project does not exist.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::teams::{no_member, require};
use model::permission::System;
use serde::Serialize;
use store::{Label, optimistic};
use utoipa::ToSchema;
use wire::id::{ProjectId, TeamId};

use crate::owners::teams::{make_room, owner};

pub const ROUTE: Route = Route::post("projects-internal-transfer", "/api/v1/internal/projects/transfer")
    .summary("Transfers a project to another team of its owner")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::Project])
    .errors(&[
        ErrorCode::ExpectedInternalProject,
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ProjectNotFound,
        ErrorCode::TeamPermissionRequired,
        ErrorCode::TeamMembershipNotFound,
        ErrorCode::TooManyProjects,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Transfer {
    /// The id of the project.
    project_id: String,
    /// The new owner, which must be a team of the caller.
    new_team_id: TeamId,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Transferred)]
pub struct TransferAnswer {
    /// Always `"true"`, a string.
    success: &'static str,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<Transfer>,
) -> Result<Json<TransferAnswer>, Error> {
    let (user, internal) = (owner(&access)?.id, &access.project);
    let not_found = || KnownError::ProjectNotFound { project_id: body.project_id.clone() };
    let project = ProjectId::parse(&body.project_id).map_err(|_| not_found())?;
    optimistic!(|attempt| {
        let row = access.table(attempt).project(&project).await?.ok_or_else(not_found)?;
        let old = row.project.owner_team_id.as_deref().and_then(|id| TeamId::parse(id).ok()).ok_or_else(not_found)?;
        let (giver, taker) =
            tokio::try_join!(app.store.member(&internal.id, old, user), app.store.member(&internal.id, body.new_team_id, user))?;
        let giver = giver.ok_or_else(not_found)?;
        require(internal, old, user, Some(&giver.grants), System::DeleteTeam)?;
        taker.ok_or_else(|| no_member(body.new_team_id, user))?;
        match app.store.transfer_project(row, (old, body.new_team_id), user).await {
            Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Count) => {
                make_room(&app, body.new_team_id, || no_member(body.new_team_id, user).into()).await?;
                Err(store::Error::Conflict(conflict).into())
            }
            result => Ok(result.map(|()| Json(TransferAnswer { success: "true" }))?),
        }
    })
}
