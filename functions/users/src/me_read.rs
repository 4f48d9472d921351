//! `GET /api/v1/users/me`: the signed-in user.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem};
use shared::http::{Json, Route};
use shared::model::user_view::UserView;
use shared::product_api::access::CurrentUser;
use shared::product_api::accounts::selected_team;
use shared::product_api::{Access, Client, Error, Input};

pub const ROUTE: Route = Route::get("users-me-read", "/api/v1/users/me")
    .summary("Reads the signed-in user")
    .table(&[BatchGetItem, GetItem])
    .shows_selected_team()
    .errors(&["CANNOT_GET_OWN_USER_WITHOUT_USER"]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<UserView>, Error> {
    let CurrentUser { row, named_team, .. } = access.own_user()?;
    let team = match named_team {
        Some(team) if row.user.selected_team_id == Some(team.id) => Some(team.clone()),
        _ => selected_team(&app, &access.project.id, &row.user).await?,
    };
    Ok(Json(UserView::of(&row.user, row.last_active_at, &access.project.config, access.level, team.as_ref())))
}
