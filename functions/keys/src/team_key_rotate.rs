//! `POST /api/v1/team-api-keys/{id}/rotate`: replaces an API key of a team with a new key that has
//! the same properties. The old key keeps working for a day or for the time in the request, unless
//! it expires earlier. A client needs `$manage_api_keys` in the team.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use errors::Error;
use model::owned_key::Owner;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPath, KeyRotation, TeamQuery};
use crate::owners::manage::{ROTATION_ERRORS, TEAM_ERRORS, rotate};

pub const ROUTE: Route = Route::post("keys-team-key-rotate", "/api/v1/team-api-keys/{id}/rotate")
    .summary("Replaces an API key of a team with a new one")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_ERRORS)
    .errors(ROTATION_ERRORS);

pub async fn handle(
    access: Access<Client>,
    Input { body, query, path }: Input<KeyRotation, TeamQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    let owner = Owner::Team(query.team_id);
    rotate(&access, owner, path.id, &body, &ROUTE).await.map(Json)
}
