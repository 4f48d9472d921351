//! `PATCH /api/v1/user-api-keys/{id}`: changes an API key of a user, or revokes it. A revoked key
//! stops working immediately. A client can change only the keys of its user.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use model::limit::Limit;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPatch, KeyPath, UserQuery, user};
use crate::owners::manage::{USER_ERRORS, update};

pub const ROUTE: Route = Route::patch("keys-user-key-update", "/api/v1/user-api-keys/{id}")
    .summary("Updates or revokes an API key of a user")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(USER_ERRORS)
    .errors(&[ErrorCode::ReauthenticationRequired, ErrorCode::ApiKeyNotFound, ErrorCode::TooManyApiKeys]);

pub async fn handle(
    access: Access<Client>,
    Input { body, query, path }: Input<KeyPatch, UserQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    let owner = user(&access, query.user_id, &ROUTE)?;
    update(&access, owner, path.id, body).await.map(Json)
}
