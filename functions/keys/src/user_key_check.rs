//! `POST /api/v1/user-api-keys/check`: checks an API key of a user and returns its owner. The check
//! costs one round trip and, at most once an hour, a write that records the use.

use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use errors::Error;
use model::owned_key::OwnerKind;
use model::owned_key::view::OwnedKeyView;

use crate::owners::check::{KeyBody, check, checks_key};

pub const ROUTE: Route =
    checks_key(Route::post("keys-user-key-check", "/api/v1/user-api-keys/check")).summary("Checks an API key of a user");

pub async fn handle(access: Access<Server>, Input { body, .. }: Input<KeyBody>) -> Result<Json<OwnedKeyView>, Error> {
    check(&access, &body, OwnerKind::User).await.map(Json)
}
