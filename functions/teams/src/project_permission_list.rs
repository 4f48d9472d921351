//! `GET /api/v1/project-permissions`: lists the project permissions of a user. A client can list
//! only the permissions of its user.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{Flag, IgnoredBody};
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use flows::teams::limited_to;
use model::permission::{PermissionId, Scope};
use model::team::ProjectPermission;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-project-permission-list", "/api/v1/project-permissions")
    .summary("Lists a user's project permissions")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPermissionsQuery {
    /// A user's id, or `me`. Required.
    user_id: Option<UserRef>,
    /// Only this permission.
    permission_id: Option<PermissionId>,
    /// Whether to include contained permissions. Default: `false`.
    recursive: Flag,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, ProjectPermissionsQuery>,
) -> Result<Json<List<ProjectPermission>>, Error> {
    let user_id = match (query.user_id, limited_to(&access)?) {
        (Some(user), _) => access.user_id(user)?,
        (None, Some(_)) => return Err(KnownError::Forbidden.into()),
        (None, None) => return Err(user_problem("query.user_id", "is required", ROUTE).into()),
    };
    let grants = read(&access, user_id).await?.map(|row| row.user.permissions).unwrap_or_default();
    let recursive = query.recursive.is_set();
    let ids = access.project.config.rbac.granted(&grants, Scope::Project, recursive).into_iter();
    let ids = ids.filter(|id| query.permission_id.as_ref().is_none_or(|wanted| wanted == id));
    Ok(Json(List::whole(ids.map(|id| ProjectPermission { id, user_id }).collect())))
}
