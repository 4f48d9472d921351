//! `POST /api/v1/emails/capacity-boost`: quadruples the project's sending rate for four hours. Only
//! one boost can be active, so only one of several concurrent requests succeeds.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use jiff::SignedDuration;
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;

pub const ROUTE: Route = Route::post("emails-capacity-boost", "/api/v1/emails/capacity-boost")
    .summary("Quadruples the project's sending rate for four hours")
    .table(&[BatchGetItem, GetItem, PutItem])
    .errors(&[ErrorCode::EmailCapacityBoostAlreadyActive]);

const LENGTH: SignedDuration = SignedDuration::from_hours(4);

#[derive(Serialize, ToSchema)]
pub struct Boost {
    /// The time when the boost ends (RFC 3339).
    expires_at: String,
}

pub async fn handle(State(app): State<App>, access: Access<Server>, _: Input) -> Result<Json<Boost>, Error> {
    let (project, now) = (&access.project.id, app.clock.now());
    let expires_at = after(now, LENGTH);
    match app.store.begin_boost(project, expires_at, now).await {
        Ok(()) => Ok(Json(Boost { expires_at: expires_at.to_string() })),
        Err(store::Error::Conflict(_)) => {
            let active = app.store.boost(project, now).await?.unwrap_or(expires_at);
            Err(KnownError::EmailCapacityBoostAlreadyActive { expires_at: active.to_string() }.into())
        }
        Err(error) => Err(error.into()),
    }
}
