//! `GET /api/v1/emails/notification-preference/{user_id}`: lists the categories of emails, and
//! whether a user wants each of them. A client can read only the preferences of its user.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::email::category::Category;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::preferences::categories::Preference;

pub const ROUTE: Route = Route::get("emails-preference-list", "/api/v1/emails/notification-preference/{user_id}")
    .summary("Lists which categories of emails a user wants")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A UUID, or `me`.
    user_id: UserRef,
}

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, UserPath>,
) -> Result<Json<List<Preference>>, Error> {
    let row = read(&access, access.user_id(path.user_id)?).await?.ok_or(KnownError::UserNotFound)?;
    let items = Category::ALL.into_iter().map(|category| Preference::of(&row.user, category)).collect();
    Ok(Json(List::whole(items)))
}
