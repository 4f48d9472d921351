//! `GET /api/v1/emails/notification-preference/{user_id}`: which kinds of mails a user wants. A client reads its own user's alone.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::read;
use model::email::category::Category;
use model::user::reference::UserRef;
use serde::Serialize;
use utoipa::ToSchema;

use crate::preferences::categories::Preference;

pub const ROUTE: Route = Route::get("emails-preference-list", "/api/v1/emails/notification-preference/{user_id}")
    .summary("Lists which kinds of mails a user wants")
    .table(&[BatchGetItem])
    .reads(&[Named::User])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden, ErrorCode::UserNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A UUID, or `me`.
    user_id: UserRef,
}

#[derive(Serialize, ToSchema)]
pub struct Preferences {
    items: Vec<Preference>,
    is_paginated: bool,
}

pub async fn handle(access: Access<Client>, Input { path, .. }: Input<Ignored, Nothing, UserPath>) -> Result<Json<Preferences>, Error> {
    let row = read(&access, access.user_id(path.user_id)?).await?.ok_or(KnownError::UserNotFound)?;
    let items = Category::ALL.into_iter().map(|category| Preference::of(&row.user, category)).collect();
    Ok(Json(Preferences { items, is_paginated: false }))
}
