//! `DELETE /api/v1/teams/{team_id}`: deletes a team with all its memberships. A client needs
//! `$delete_team`. A team that owns projects is not deleted.
//!
//! A very large team disappears immediately, but its memberships take longer to delete. The
//! response then has the status 503 and asks the caller to repeat the request. If nobody repeats
//! the request, a worker completes the deletion.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use flows::teams::{limited_to, no_team, require};
use model::permission::System;
use store::team::deletion::Deletion;

use crate::members::paths::TeamPath;

pub const ROUTE: Route = Route::delete("teams-team-delete", "/api/v1/teams/{team_id}")
    .summary("Deletes a team")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamPermissionRequired,
        ErrorCode::TeamNotFound,
        ErrorCode::TeamOwnsProjects,
    ]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, TeamPath>,
) -> Result<Json<Success>, Error> {
    let (team, project) = (path.team_id, &access.project);
    let own = limited_to(&access)?;
    let member = async {
        match own {
            Some(own) => app.store.member(&project.id, team, own).await,
            None => Ok(None),
        }
    };
    let (member, doomed) = tokio::try_join!(member, app.store.doomed(&project.id, team))?;
    if let Some(own) = own {
        // The permission is checked even if the team is not found. After an interrupted deletion,
        // the team is hidden, but its deletion can still be completed.
        require(project, team, own, member.as_ref().map(|member| &member.grants), System::DeleteTeam)?;
    }
    match app.store.delete_team(&project.id, team, own, doomed, app.clock.now()).await? {
        Deletion::Done => Ok(Json(SUCCESS)),
        Deletion::Missing => Err(no_team(team).into()),
        Deletion::OwnsProjects => Err(KnownError::TeamOwnsProjects { team_id: team.to_string() }.into()),
        Deletion::Unfinished => Err(KnownError::ServiceUnavailable.into()),
    }
}
