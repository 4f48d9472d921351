//! `POST /api/v1/internal/webhook-endpoints/{id}/rotate-secret`: replaces the secret of an
//! endpoint. For a day by default, events are signed with both the old and the new secret, so that
//! receivers do not reject them.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use jiff::SignedDuration;
use model::webhook::Endpoint;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::optimistic;
use utoipa::ToSchema;
use wire::clock::after;
use wire::problem::Problems;

use crate::endpoints::input::{EndpointPath, found, sealing};

pub const ROUTE: Route = Route::post("webhooks-secret-rotate", "/api/v1/internal/webhook-endpoints/{id}/rotate-secret")
    .summary("Replaces the secret of a webhook endpoint")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound]);

/// How long events are also signed with the previous secret by default, in milliseconds (one day).
const DEFAULT_OVERLAP: u64 = 86_400_000;
/// The maximum time for which events are also signed with the previous secret, in milliseconds (two
/// days).
const MAX_OVERLAP: u64 = 172_800_000;

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RotateSecret {
    /// How long events are also signed with the previous secret, in milliseconds: at most
    /// 172,800,000 (two days). Default: 86,400,000 (a day).
    #[schema(maximum = 172_800_000)]
    expire_previous_in_millis: Option<u64>,
}

#[derive(Serialize, ToSchema)]
pub struct RotatedSecret {
    /// The new secret. The secret is not shown again.
    #[schema(example = "whsec_…")]
    secret: String,
}

pub async fn handle(
    access: Access<Admin>,
    Input { body, path, .. }: Input<Option<RotateSecret>, Nothing, EndpointPath>,
) -> Result<Json<RotatedSecret>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    let overlap = body.and_then(|body| body.expire_previous_in_millis).unwrap_or(DEFAULT_OVERLAP);
    if overlap > MAX_OVERLAP {
        let problems = Problems::one("body.expire_previous_in_millis", format!("must be at most {MAX_OVERLAP}"));
        return Err(ROUTE.schema_error(&problems).into());
    }
    let until = after(now, SignedDuration::from_millis(i64::try_from(overlap).unwrap_or_default()));
    let (new, secret) = sealing(&access).new_secret(path.id)?;
    optimistic!(|_| {
        let row = found(&access, path.id).await?;
        let mut next: Endpoint = row.endpoint.clone();
        next.rotate(new.clone(), until, now);
        app.store.replace_webhook_endpoint(&access.project.id, &row, &next, Vec::new()).await?;
        Ok::<_, Error>(())
    })?;
    Ok(Json(RotatedSecret { secret: secret.expose_secret().to_owned() }))
}
