//! `GET /health`: says that the service answers. It asks nothing of the table, so that an outage there does not look like one here.

use api::http::{Json, Route};
use axum::extract::State;
use errors::Error;
use flows::App;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("edge-health", "/health").summary("Says that the service answers").without_secret();

#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

pub async fn handle(State(_): State<App>) -> Result<Json<Health>, Error> {
    Ok(Json(Health { status: "ok" }))
}
