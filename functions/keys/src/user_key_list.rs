//! `GET /api/v1/user-api-keys`: lists the API keys of a user, newest first. Keys that expired or
//! were revoked in the last 30 days are included. A client can list only the keys of its user.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::page::List;
use api::product::{Access, Client, Input};
use errors::Error;
use model::owned_key::view::OwnedKeyView;

use crate::owners::input::{UserQuery, user};
use crate::owners::manage::{USER_ERRORS, list};

pub const ROUTE: Route = Route::get("keys-user-key-list", "/api/v1/user-api-keys")
    .summary("Lists the API keys of a user")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_ERRORS);

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<IgnoredBody, UserQuery>) -> Result<Json<List<OwnedKeyView>>, Error> {
    list(&access, user(&access, query.user_id, &ROUTE)?).await.map(Json)
}
