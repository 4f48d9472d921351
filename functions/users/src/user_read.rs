//! `GET /api/v1/users/{user_id}`: a user, as a server reads it.

use deserr::Deserr;
use shared::http::TableAction::{BatchGetItem, GetItem};
use shared::http::{Json, Named, Route};
use shared::model::user_ref::UserRef;
use shared::model::user_view::ServerUser;
use shared::product_api::accounts::{read, selected_team};
use shared::product_api::error::{Error, KnownError};
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Input, Server};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("users-user-read", "/api/v1/users/{user_id}")
    .summary("Reads a user")
    .table(&[BatchGetItem, GetItem])
    .reads(&[Named::User])
    .errors(&["USER_NOT_FOUND", "CANNOT_GET_OWN_USER_WITHOUT_USER"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
}

pub async fn handle(access: Access<Server>, Input { path, .. }: Input<Ignored, Nothing, UserPath>) -> Result<Json<ServerUser>, Error> {
    let project = &access.project;
    let row = read(&access, access.user_id(path.user_id)?).await?.ok_or(KnownError::UserNotFound)?;
    let team = selected_team(&access.prefetched, &project.id, &row.user).await?;
    Ok(Json(ServerUser::of(&row.user, row.last_active_at, &project.config, team.as_ref())))
}
