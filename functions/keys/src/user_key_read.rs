//! `GET /api/v1/user-api-keys/{id}`: returns the properties of an API key of a user, but not the
//! key. A client can read only the keys of its user.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPath, UserQuery, user};
use crate::owners::manage::{USER_ERRORS, find};

pub const ROUTE: Route = Route::get("keys-user-key-read", "/api/v1/user-api-keys/{id}")
    .summary("Returns an API key of a user")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_ERRORS)
    .errors(&[ErrorCode::ApiKeyNotFound]);

pub async fn handle(
    access: Access<Client>,
    Input { query, path, .. }: Input<IgnoredBody, UserQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    find(&access, user(&access, query.user_id, &ROUTE)?, path.id).await.map(Json)
}
