//! `POST /api/v1/team-api-keys/check`: checks an API key of a team and returns its owner. The check
//! costs one round trip. If a client created the key, a second round trip reads the key's creator.
//! At most once an hour, a write records the use.

use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use errors::Error;
use model::owned_key::OwnerKind;
use model::owned_key::view::OwnedKeyView;

use crate::owners::check::{KeyBody, check, checks_key};

pub const ROUTE: Route =
    checks_key(Route::post("keys-team-key-check", "/api/v1/team-api-keys/check")).summary("Checks an API key of a team");

pub async fn handle(access: Access<Server>, Input { body, .. }: Input<KeyBody>) -> Result<Json<OwnedKeyView>, Error> {
    check(&access, &body, OwnerKind::Team).await.map(Json)
}
