//! `GET /api/v1/users/me`: the signed-in user.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Route};
use shared::model::user_view::UserView;
use shared::product_api::{Access, Client, Error, Input};

pub const ROUTE: Route = Route::get("users-me-read", "/api/v1/users/me")
    .summary("Reads the signed-in user")
    .table(&[BatchGetItem])
    .errors(&["CANNOT_GET_OWN_USER_WITHOUT_USER"]);

pub async fn handle(State(_): State<App>, access: Access<Client>, _: Input) -> Result<Json<UserView>, Error> {
    let row = &access.own_user()?.row;
    Ok(Json(UserView::of(&row.user, row.last_active_at, &access.project.config, access.level)))
}
