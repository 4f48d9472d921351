//! `POST /api/v1/internal/oauth-clients/{id}/rotate-secret`: replaces the secret of a confidential
//! client. By default, the old secret works for another day.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use jiff::SignedDuration;
use model::openid::client::{ClientSecret, MAX_SECRET_OVERLAP};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::optimistic;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::clients::{ClientPath, found};

pub const ROUTE: Route = Route::post("openid-client-secret-rotate", "/api/v1/internal/oauth-clients/{id}/rotate-secret")
    .summary("Replaces the secret of an OAuth client")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::OauthClientNotFound, ErrorCode::OauthClientHasNoSecret]);

/// The time for which the old secret still works by default.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ClientSecretRotation {
    /// The time for which the old secret still works, in milliseconds. The maximum is 604,800,000
    /// (a week). Default: 86,400,000 (a day). With 0, the old secret stops working immediately.
    #[schema(maximum = 604_800_000)]
    expire_previous_in_millis: Option<u32>,
}

#[derive(Serialize, ToSchema)]
pub struct RotatedClientSecret {
    /// The new secret. The secret is not shown again.
    #[schema(example = "ocs_…")]
    client_secret: String,
}

pub async fn handle(
    access: Access<Admin>,
    Input { body, path, .. }: Input<Option<ClientSecretRotation>, Nothing, ClientPath>,
) -> Result<Json<RotatedClientSecret>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    let millis = body.and_then(|body| body.expire_previous_in_millis);
    let overlap = millis.map_or(OVERLAP, |millis| SignedDuration::from_millis(millis.into()));
    if overlap > MAX_SECRET_OVERLAP {
        let problem = format!("must be from 0 to {}", MAX_SECRET_OVERLAP.as_millis());
        return Err(ROUTE.schema_error(&Problems::one("body.expire_previous_in_millis", problem)).into());
    }
    let (secret, text) = ClientSecret::draw(&app.entropy);
    optimistic!(|_| {
        let row = found(&access, path.id).await?;
        if !row.client.is_confidential() {
            return Err(KnownError::OauthClientHasNoSecret.into());
        }
        let mut next = row.client.clone();
        next.rotate(secret.clone(), overlap, now);
        app.store.replace_oauth_client(&access.project.id, &row, &next).await?;
        Ok::<_, Error>(())
    })?;
    Ok(Json(RotatedClientSecret { client_secret: text.expose_secret().to_owned() }))
}
