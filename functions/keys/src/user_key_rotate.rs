//! `POST /api/v1/user-api-keys/{id}/rotate`: replaces an API key of a user with a new key that has
//! the same properties. The old key keeps working for a day or for the time in the request, unless
//! it expires earlier. A client can rotate only the keys of its user.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use errors::Error;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPath, KeyRotation, UserQuery, user};
use crate::owners::manage::{ROTATION_ERRORS, USER_ERRORS, rotate};

pub const ROUTE: Route = Route::post("keys-user-key-rotate", "/api/v1/user-api-keys/{id}/rotate")
    .summary("Replaces an API key of a user with a new one")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(USER_ERRORS)
    .errors(ROTATION_ERRORS);

pub async fn handle(
    access: Access<Client>,
    Input { body, query, path }: Input<KeyRotation, UserQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    let owner = user(&access, query.user_id, &ROUTE)?;
    rotate(&access, owner, path.id, &body, &ROUTE).await.map(Json)
}
