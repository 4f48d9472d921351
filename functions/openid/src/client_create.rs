//! `POST /api/v1/internal/oauth-clients`: creates a client to which users can sign in. Only this
//! operation returns the client's secret.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use model::openid::client::{ClientSecret, MAX_CLIENTS};
use model::openid::client_input::ClientInput;
use model::openid::client_view::ClientView;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;

use crate::clients::check_algorithm;

pub const ROUTE: Route = Route::post("openid-client-create", "/api/v1/internal/oauth-clients")
    .summary("Creates an OAuth client and returns its secret once")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::TooManyOauthClients, ErrorCode::Forbidden]);

#[derive(Serialize, ToSchema)]
#[schema(as = CreatedOauthClient)]
pub struct CreatedClient {
    #[serde(flatten)]
    client: ClientView,
    /// The secret of a confidential client. `null` for a public client. The secret is not shown
    /// again.
    #[schema(example = "ocs_…")]
    client_secret: Option<String>,
}

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<ClientInput>) -> Result<CreatedJson<CreatedClient>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    // The administrators of projects sign in only to the console.
    if access.project.id.is_internal() {
        return Err(KnownError::Forbidden.into());
    }
    check_algorithm(&access, body.asks_for_rsa(), &ROUTE).await?;
    let (secret, text) = ClientSecret::draw(&app.entropy);
    let client = body.into_client(app.entropy.uuid().into(), secret, now).map_err(|problems| ROUTE.schema_error(&problems))?;
    if !app.store.create_oauth_client(&access.project.id, &client).await? {
        return Err(KnownError::TooManyOauthClients { limit: MAX_CLIENTS }.into());
    }
    let client_secret = client.is_confidential().then(|| text.expose_secret().to_owned());
    Ok(CreatedJson(CreatedClient { client: ClientView::of(&client, now), client_secret }))
}
