//! `GET /api/v1/users/{user_id}`: a user, as a server reads it.

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem};
use shared::http::{Json, Route};
use shared::model::user_view::ServerUser;
use shared::product_api::access::UserRef;
use shared::product_api::accounts::selected_team;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Error, Input, KnownError, Server};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("users-user-read", "/api/v1/users/{user_id}")
    .summary("Reads a user")
    .table(&[BatchGetItem, GetItem])
    .errors(&["USER_NOT_FOUND", "CANNOT_GET_OWN_USER_WITHOUT_USER"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, UserPath>,
) -> Result<Json<ServerUser>, Error> {
    let id = access.user_id(path.user_id)?;
    let project = &access.project;
    let row = app.store.user(&project.id, id).await?.ok_or(KnownError::UserNotFound)?;
    let team = selected_team(&app, &project.id, &row.user).await?;
    Ok(Json(ServerUser::of(&row.user, row.last_active_at, &project.config, team.as_ref())))
}
