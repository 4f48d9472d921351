//! `POST /api/v1/team-memberships/{team_id}/{user_id}`: adds a user to a team, with a member's
//! permissions. Requires server access.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::read;
use flows::teams::{TeamToJoin, join_refused, joining};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

use crate::members::paths::MemberPath;

pub const ROUTE: Route = Route::post("teams-membership-create", "/api/v1/team-memberships/{team_id}/{user_id}")
    .summary("Adds a user to a team")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(&[
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::TeamNotFound,
        ErrorCode::UserNotFound,
        ErrorCode::TeamMembershipAlreadyExists,
    ]);

#[derive(Serialize, ToSchema)]
pub struct TeamMembership {
    team_id: TeamId,
    user_id: UserId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, Nothing, MemberPath>,
) -> Result<CreatedJson<TeamMembership>, Error> {
    let (team_id, user_id) = (path.team_id, access.user_id(path.user_id)?);
    let user = read(&access, user_id).await?.ok_or(KnownError::UserNotFound)?.user;
    // The team is not read, so its creation time is unknown.
    let joined = TeamToJoin { team: team_id, created_at: None, user_version: None };
    match app.store.transact(joining(&app, &access.project, joined, &user)?).await {
        Ok(()) => Ok(CreatedJson(TeamMembership { team_id, user_id })),
        Err(store::Error::Conflict(conflict)) => Err(join_refused(&conflict, team_id).into()),
        Err(error) => Err(error.into()),
    }
}
