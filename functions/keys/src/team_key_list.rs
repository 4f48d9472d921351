//! `GET /api/v1/team-api-keys`: lists the API keys of a team, newest first. Keys that expired or
//! were revoked in the last 30 days are included. A client needs `$manage_api_keys` in the team.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::page::List;
use api::product::{Access, Client, Input};
use errors::Error;
use model::owned_key::Owner;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::TeamQuery;
use crate::owners::manage::{TEAM_ERRORS, list};

pub const ROUTE: Route = Route::get("keys-team-key-list", "/api/v1/team-api-keys")
    .summary("Lists the API keys of a team")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_ERRORS);

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<IgnoredBody, TeamQuery>) -> Result<Json<List<OwnedKeyView>>, Error> {
    list(&access, Owner::Team(query.team_id)).await.map(Json)
}
