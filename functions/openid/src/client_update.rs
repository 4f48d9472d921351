//! `PATCH /api/v1/internal/oauth-clients/{id}`: changes a client. In existing sessions, the change
//! takes effect when the client next gets a token.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::openid::client_input::ClientInput;
use model::openid::client_view::ClientView;
use store::optimistic;

use crate::clients::{ClientPath, check_algorithm, found};

pub const ROUTE: Route = Route::patch("openid-client-update", "/api/v1/internal/oauth-clients/{id}")
    .summary("Changes an OAuth client")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::OauthClientNotFound]);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<ClientInput, Nothing, ClientPath>,
) -> Result<VersionedResponse<Json<ClientView>>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    check_algorithm(&access, body.asks_for_rsa(), &ROUTE).await?;
    let (next, version) = optimistic!(|_| {
        let row = found(&access, path.id).await?;
        if_match.check(row.version)?;
        let next = body.clone().apply(row.client.clone(), now).map_err(|problems| ROUTE.schema_error(&problems))?;
        app.store.replace_oauth_client(&access.project.id, &row, &next).await?;
        Ok::<_, Error>((next, row.version + 1))
    })?;
    Ok(VersionedResponse { response: Json(ClientView::of(&next, now)), version })
}
