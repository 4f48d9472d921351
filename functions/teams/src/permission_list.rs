//! `GET /api/v1/team-permissions`: what members may do in their teams: those of a user, of a team, or of a user in a team. A client lists
//! its user's own.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Param};
use api::product::page::{self, Pagination};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::teams::{limited_to, no_team};
use model::permission::PermissionId;
use model::team::{TeamPermission, permissions_of};
use model::user::reference::UserRef;
use serde::Serialize;
use store::team::membership::MemberRow;
use utoipa::ToSchema;
use wire::id::TeamId;

use crate::members::listing;
use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-permission-list", "/api/v1/team-permissions")
    .summary("Lists what members may do in their teams")
    .table(&[BatchGetItem, Query])
    .reads(&[Named::Team])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::Forbidden,
        ErrorCode::TeamNotFound,
        ErrorCode::InvalidCursor,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPermissionsQuery {
    #[deserr(default)]
    team_id: Option<TeamId>,
    /// A user's id, or `me`; a client has to name its user, a server a user or a team.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
    /// This permission alone.
    #[deserr(default)]
    permission_id: Option<PermissionId>,
    /// Also what is contained in what was granted.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    recursive: Option<Param<bool>>,
    /// Of a list of a team: how many members' permissions a page has; 1 to 10,000, which is the default.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 10000)]
    #[deserr(default)]
    limit: Option<Param<usize>>,
    /// The `next_cursor` of the page before.
    #[deserr(default)]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct TeamPermissions {
    items: Vec<TeamPermission>,
    is_paginated: bool,
    /// Absent when there are no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

const MAX_LIMIT: usize = 10_000;

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, TeamPermissionsQuery>,
) -> Result<Json<TeamPermissions>, Error> {
    let limit = page::limit(query.limit, MAX_LIMIT, MAX_LIMIT, &ROUTE)?;
    let (own, project) = (limited_to(&access)?, &access.project);
    let user = query.user_id.map(|user| access.user_id(user)).transpose()?;
    let (members, pagination) = match (query.team_id, user) {
        (Some(team), Some(user)) => {
            let (row, members) = access.prefetched.team_and_members(&project.id, team, &[user]).await?;
            (members.into_iter().filter(|_| row.is_some()).collect(), None)
        }
        (None, Some(user)) => (app.store.members_of(&project.id, user).await?, None),
        (Some(team), None) if own.is_none() => {
            let list = format!("team-permissions/{team}");
            let after = listing::after(&app, project, &list, query.cursor.as_deref())?;
            let (row, members) =
                tokio::try_join!(access.prefetched.team(&project.id, team), app.store.members(&project.id, team, after, limit))?;
            row.ok_or_else(|| no_team(team))?;
            let (members, more) = members;
            let last = members.last().map(|row| row.user_id).filter(|_| more);
            (members, Some(listing::next(&app, project, &list, last)?))
        }
        (_, None) if own.is_some() => return Err(KnownError::Forbidden.into()),
        (_, None) => return Err(user_problem("query.user_id", "is required where there is no team_id", ROUTE).into()),
    };
    let recursive = query.recursive.is_some_and(|recursive| recursive.0);
    let of = |row: &MemberRow| permissions_of(&project.config.rbac, &row.grants, recursive, row.team_id, row.user_id);
    let items = members.iter().flat_map(of).filter(|permission| query.permission_id.as_ref().is_none_or(|id| *id == permission.id));
    Ok(Json(TeamPermissions { items: items.collect(), is_paginated: pagination.is_some(), pagination }))
}
