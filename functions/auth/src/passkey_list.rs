//! `GET /api/v1/passkeys`: lists a user's passkeys in the order of registration.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::accounts::read;
use model::passkey::view::PasskeyRead;
use model::user::reference::UserRef;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("auth-passkey-list", "/api/v1/passkeys")
    .summary("Lists a user's passkeys")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PasskeysQuery {
    /// A user's id, or `me`. The parameter is required, because the passkeys of all users cannot be
    /// listed.
    user_id: Option<UserRef>,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, PasskeysQuery>,
) -> Result<Json<List<PasskeyRead>>, Error> {
    let user_id = access.listed_user(query.user_id, &ROUTE)?;
    let passkeys = read(&access, user_id).await?.map(|row| row.user.passkeys).unwrap_or_default();
    Ok(Json(List::whole(passkeys.iter().map(|passkey| PasskeyRead::of(user_id, passkey)).collect())))
}
