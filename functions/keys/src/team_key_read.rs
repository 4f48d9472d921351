//! `GET /api/v1/team-api-keys/{id}`: returns the properties of an API key of a team, but not the
//! key. A client needs `$manage_api_keys` in the team.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::{Access, Client, Input};
use errors::Error;
use model::owned_key::Owner;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{KeyPath, TeamQuery};
use crate::owners::manage::{TEAM_ERRORS, find};

pub const ROUTE: Route = Route::get("keys-team-key-read", "/api/v1/team-api-keys/{id}")
    .summary("Returns an API key of a team")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_ERRORS);

pub async fn handle(
    access: Access<Client>,
    Input { query, path, .. }: Input<IgnoredBody, TeamQuery, KeyPath>,
) -> Result<Json<OwnedKeyView>, Error> {
    find(&access, Owner::Team(query.team_id), path.id).await.map(Json)
}
