//! `POST /api/v1/team-permissions/{team_id}/{user_id}/{permission_id}`: grants a permission to a
//! member of a team. Requires server access. Granting a permission again changes nothing.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{CreatedJson, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::Error;
use flows::App;
use flows::teams::{enter, no_member};
use model::permission::Scope;
use model::team::TeamPermission;

use crate::permissions::grants::{TEAM_GRANT_ERRORS, TeamPermissionPath};

pub const ROUTE: Route = Route::post("teams-permission-grant", "/api/v1/team-permissions/{team_id}/{user_id}/{permission_id}")
    .summary("Grants a permission to a member of a team")
    .table(&[BatchGetItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_GRANT_ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, Nothing, TeamPermissionPath>,
) -> Result<CreatedJson<TeamPermission>, Error> {
    let (team_id, user_id) = (path.team_id, access.user_id(path.user_id)?);
    let grant = access.project.config.rbac.grant(&path.permission_id, Scope::Team)?;
    enter(&access.prefetched, &access, team_id, &[user_id], &[]).await?.member(user_id)?;
    if !app.store.grant(&access.project.id, team_id, user_id, &grant).await? {
        return Err(no_member(team_id, user_id).into());
    }
    Ok(CreatedJson(TeamPermission { id: path.permission_id, user_id, team_id }))
}
