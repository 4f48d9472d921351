//! `DELETE /api/v1/team-permissions/{team_id}/{user_id}/{permission_id}`: revokes a permission that
//! was granted directly to a team member. To revoke a contained permission, revoke the permission
//! that contains it. Requires server access.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use flows::teams::enter;
use model::permission::Scope;

use crate::permissions::grants::{TEAM_GRANT_ERRORS, TeamPermissionPath};

pub const ROUTE: Route = Route::delete("teams-permission-revoke", "/api/v1/team-permissions/{team_id}/{user_id}/{permission_id}")
    .summary("Revokes a permission of a team member")
    .table(&[BatchGetItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_GRANT_ERRORS)
    .errors(&[ErrorCode::TeamPermissionNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, Nothing, TeamPermissionPath>,
) -> Result<Json<Success>, Error> {
    let (team, user) = (path.team_id, access.user_id(path.user_id)?);
    let grant = access.project.config.rbac.grant(&path.permission_id, Scope::Team)?;
    enter(&access.prefetched, &access, team, &[user], &[]).await?.member(user)?;
    if app.store.revoke(&access.project.id, team, user, &grant).await? {
        return Ok(Json(SUCCESS));
    }
    let (team_id, user_id, permission_id) = (team.to_string(), user.to_string(), path.permission_id.to_string());
    Err(KnownError::TeamPermissionNotFound { team_id, user_id, permission_id }.into())
}
