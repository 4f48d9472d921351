//! `GET /api/v1/team-permissions`: lists the permissions of a user in all teams, of all members of
//! a team, or of a user in one team. A client can list only the permissions of its user.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, NamedItem, Route};
use api::product::cursor::Cursors;
use api::product::input::{Flag, IgnoredBody};
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
    .reads(&[NamedItem::Team])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamNotFound, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPermissionsQuery {
    team_id: Option<TeamId>,
    /// A user's id, or `me`. Required with client access. With server access, either `user_id` or
    /// `team_id` is required.
    user_id: Option<UserRef>,
    /// Only this permission.
    permission_id: Option<PermissionId>,
    /// Whether to include contained permissions. Default: `false`.
    recursive: Flag,
    /// The number of members or, for a user, of teams per page, from 1 to 10,000. Default: 10,000.
    /// A page also ends after 1,000 members or teams, when it reaches 1 MB, or when its teams reach
    /// 2 MB.
    limit: Option<Limit<10_000, 10_000>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// The number of members that are read for one page.
const AT_ONCE: usize = 1000;

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, TeamPermissionsQuery>,
) -> Result<Json<List<TeamPermission>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?.min(AT_ONCE);
    let (own, project) = (limited_to(&access)?, &access.project);
    let user = query.user_id.map(|user| access.user_id(user)).transpose()?;
    let recursive = query.recursive.is_set();
    let of = |row: &MemberRow| -> Vec<TeamPermission> {
        let all = permissions_of(&project.config.rbac, &row.grants, recursive, row.team_id, row.user_id).into_iter();
        all.filter(|permission| query.permission_id.as_ref().is_none_or(|id| *id == permission.id)).collect()
    };
    let cursor = query.cursor.as_deref();
    match (query.team_id, user) {
        (Some(team), Some(user)) => {
            let (row, members) = access.prefetched.team_and_members(&project.id, team, &[user]).await?;
            Ok(Json(List::whole(members.iter().filter(|_| row.is_some()).flat_map(of).collect())))
        }
        (None, Some(user)) => {
            let cursors = Cursors::of(&access, format_args!("team-permissions/of/{user}"));
            let page = app.store.members_of(&project.id, user, cursors.position(cursor)?, limit).await?;
            let (items, next) = fit(page.rows.into_iter(), page.next, of);
            Ok(Json(Page::new(items, cursors.next(next.as_ref())?).into()))
        }
        (Some(team), None) if own.is_none() => {
            let cursors = Cursors::of(&access, format_args!("team-permissions/{team}"));
            let after = cursors.position(cursor)?;
            let (row, members) =
                tokio::try_join!(access.prefetched.team(&project.id, team), app.store.members(&project.id, team, after, limit))?;
            row.ok_or_else(|| no_team(team))?;
            let (members, more) = members;
            let last = members.last().map(|row| row.user_id).filter(|_| more);
            let (items, next) = fit(members.into_iter().map(|row| (row.user_id, row)), last, of);
            Ok(Json(Page::new(items, cursors.next(next.as_ref())?).into()))
        }
        (_, None) if own.is_some() => Err(KnownError::Forbidden.into()),
        (_, None) => Err(user_problem("query.user_id", "is required unless team_id is given", ROUTE).into()),
    }
}

/// The permissions of as many members as fit on a page. If there are more members, also returns the
/// position of the last member on the page. `next` is the position of the last member that was
/// read, if there are more members to read.
fn fit<P: Copy>(
    members: impl Iterator<Item = (P, MemberRow)>,
    next: Option<P>,
    of: impl Fn(&MemberRow) -> Vec<TeamPermission>,
) -> (Vec<TeamPermission>, Option<P>) {
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    for (position, row) in members {
        let permissions = of(&row);
        let size: usize = permissions.iter().map(page::size).sum();
        if bytes + size > page::MAX_BYTES && last.is_some() {
            return (items, last);
        }
        bytes += size;
        items.extend(permissions);
        last = Some(position);
    }
    (items, next)
}
