//! `GET /api/v1/project-permissions`: what a user may do in the whole project. A client lists its user's own.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Param};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::read;
use flows::teams::limited_to;
use model::permission::{PermissionId, Scope};
use model::team::ProjectPermission;
use model::user::reference::UserRef;
use serde::Serialize;
use utoipa::ToSchema;

use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-project-permission-list", "/api/v1/project-permissions")
    .summary("Lists what a user may do in the project")
    .table(&[BatchGetItem])
    .reads(&[Named::User])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPermissionsQuery {
    /// A user's id, or `me`.
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
}

#[derive(Serialize, ToSchema)]
pub struct ProjectPermissions {
    items: Vec<ProjectPermission>,
    /// Always false: a user has few.
    is_paginated: bool,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, ProjectPermissionsQuery>,
) -> Result<Json<ProjectPermissions>, Error> {
    let user_id = match (query.user_id, limited_to(&access)?) {
        (Some(user), _) => access.user_id(user)?,
        (None, Some(_)) => return Err(KnownError::Forbidden.into()),
        (None, None) => return Err(user_problem("query.user_id", "is required", ROUTE).into()),
    };
    let grants = read(&access, user_id).await?.map(|row| row.user.permissions).unwrap_or_default();
    let recursive = query.recursive.is_some_and(|recursive| recursive.0);
    let ids = access.project.config.rbac.granted(&grants, Scope::Project, recursive).into_iter();
    let ids = ids.filter(|id| query.permission_id.as_ref().is_none_or(|wanted| wanted == id));
    Ok(Json(ProjectPermissions { items: ids.map(|id| ProjectPermission { id, user_id }).collect(), is_paginated: false }))
}
