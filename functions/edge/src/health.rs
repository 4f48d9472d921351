//! `GET /health`: reports that the service is up. The table is not read, so that an outage of the
//! table does not look like an outage of the service.

use api::http::{Json, Route};
use axum::extract::State;
use errors::Error;
use flows::App;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("edge-health", "/health").summary("Reports that the service is up").without_secret();

#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

pub async fn handle(State(_): State<App>) -> Result<Json<Health>, Error> {
    Ok(Json(Health { status: "ok" }))
}
