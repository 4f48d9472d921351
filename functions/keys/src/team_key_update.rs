//! `PATCH /api/v1/team-api-keys/{id}`: changes an API key of a team, or revokes it. A revoked key
//! stops working immediately. A client needs `$manage_api_keys` in the team.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use model::limit::Limit;
use model::owned_key::Owner;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPatch, KeyPath, TeamQuery};
use crate::owners::manage::{TEAM_ERRORS, update};

pub const ROUTE: Route = Route::patch("keys-team-key-update", "/api/v1/team-api-keys/{id}")
    .summary("Updates or revokes an API key of a team")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_ERRORS)
    .errors(&[ErrorCode::ReauthenticationRequired, ErrorCode::TooManyApiKeys]);

pub async fn handle(
    access: Access<Client>,
    Input { body, query, path }: Input<KeyPatch, TeamQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    let owner = Owner::Team(query.team_id);
    update(&access, owner, path.id, body).await.map(Json)
}
