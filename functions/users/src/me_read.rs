//! `GET /api/v1/users/me`: returns the signed-in user.

use api::http::TableAction::{BatchGetItem, GetItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use flows::accounts::selected_team;
use model::view::user::UserView;

pub const ROUTE: Route = Route::get("users-me-read", "/api/v1/users/me")
    .summary("Returns the signed-in user")
    .table(&[BatchGetItem, GetItem])
    .reads(&[NamedItem::SelectedTeam])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser]);

pub async fn handle(access: Access<Client>, _: Input) -> Result<Json<UserView>, Error> {
    let row = &access.own_user()?.row;
    let team = selected_team(&access.prefetched, &access.project.id, &row.user).await?;
    let view = UserView::of(&row.user, row.last_active_at, &access.project.config, access.level, team.as_ref());
    Ok(Json(view.restricted(access.restricted_reason(&row.user))))
}
