//! `GET /api/v1/internal/oauth-clients/{id}`: returns a client.

use api::http::TableAction::{BatchGetItem, GetItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::openid::client_view::ClientView;

use crate::clients::{ClientPath, found};

pub const ROUTE: Route = Route::get("openid-client-read", "/api/v1/internal/oauth-clients/{id}")
    .summary("Returns an OAuth client")
    .table(&[BatchGetItem, GetItem])
    .errors(&[ErrorCode::OauthClientNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, ClientPath>,
) -> Result<VersionedResponse<Json<ClientView>>, Error> {
    let row = found(&access, path.id).await?;
    Ok(VersionedResponse { response: Json(ClientView::of(&row.client, access.app.clock.now())), version: row.version })
}
