//! `GET /api/v1/team-permissions`: lists the permissions of a user in all teams, of all members of
//! a team, or of a user in one team. A client can list only its own user's permissions.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Named, Route};
use api::product::cursor::Cursors;
use api::product::input::{Ignored, Param};
use api::product::page::{self, Limit, List, Page};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::App;
use flows::teams::{limited_to, no_team};
use model::permission::PermissionId;
use model::team::{TeamPermission, permissions_of};
use model::user::reference::UserRef;
use store::team::membership::MemberRow;
use utoipa::ToSchema;
use wire::id::TeamId;

use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-permission-list", "/api/v1/team-permissions")
    .summary("Lists the permissions of members in their teams")
    .table(&[BatchGetItem, Query])
    .reads(&[Named::Team])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamNotFound, ErrorCode::InvalidCursor]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPermissionsQuery {
    #[deserr(default)]
    team_id: Option<TeamId>,
    /// A user's id, or `me`. Required for client access; a server has to give this or `team_id`.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
    /// If given, only this permission is listed.
    #[deserr(default)]
    permission_id: Option<PermissionId>,
    /// Whether to include contained permissions. Default: `false`.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    recursive: Option<Param<bool>>,
    /// Members per page when all members of a team are listed, 1 to 10,000. Default: 10,000.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 10000)]
    #[deserr(default)]
    limit: Option<Limit<10_000, 10_000>>,
    /// The `next_cursor` of the previous page.
    #[deserr(default)]
    cursor: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, TeamPermissionsQuery>,
) -> Result<Json<List<TeamPermission>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (own, project) = (limited_to(&access)?, &access.project);
    let user = query.user_id.map(|user| access.user_id(user)).transpose()?;
    let (members, next_cursor) = match (query.team_id, user) {
        (Some(team), Some(user)) => {
            let (row, members) = access.prefetched.team_and_members(&project.id, team, &[user]).await?;
            (members.into_iter().filter(|_| row.is_some()).collect(), None)
        }
        (None, Some(user)) => (app.store.members_of(&project.id, user).await?, None),
        (Some(team), None) if own.is_none() => {
            let cursors = Cursors::of(&access, format_args!("team-permissions/{team}"));
            let after = cursors.position(query.cursor.as_deref())?;
            let (row, members) =
                tokio::try_join!(access.prefetched.team(&project.id, team), app.store.members(&project.id, team, after, limit))?;
            row.ok_or_else(|| no_team(team))?;
            let (members, more) = members;
            let last = members.last().map(|row| row.user_id).filter(|_| more);
            (members, Some(cursors.next(last.as_ref())?))
        }
        (_, None) if own.is_some() => return Err(KnownError::Forbidden.into()),
        (_, None) => return Err(user_problem("query.user_id", "is required unless team_id is given", ROUTE).into()),
    };
    let recursive = query.recursive.is_some_and(|recursive| recursive.0);
    let of = |row: &MemberRow| permissions_of(&project.config.rbac, &row.grants, recursive, row.team_id, row.user_id);
    let items = members.iter().flat_map(of).filter(|permission| query.permission_id.as_ref().is_none_or(|id| *id == permission.id));
    Ok(Json(match next_cursor {
        Some(next_cursor) => Page::new(items.collect(), next_cursor).into(),
        None => List::whole(items.collect()),
    }))
}
