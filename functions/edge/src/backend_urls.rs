//! `GET /api/v1/internal/backend-urls`: where the API answers. SDKs that were told no address look it up, and fall back along the list.

use api::http::{Json, Route};
use api::product::Input;
use axum::extract::State;
use errors::Error;
use flows::App;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("edge-backend-urls", "/api/v1/internal/backend-urls")
    .summary("Lists the base URLs at which the API answers")
    .without_secret();

#[derive(Serialize, ToSchema)]
pub struct BackendUrls {
    /// The first is the one to prefer.
    urls: Vec<String>,
}

pub async fn handle(State(app): State<App>, _: Input) -> Result<Json<BackendUrls>, Error> {
    Ok(Json(BackendUrls { urls: vec![app.settings.api_url.clone()] }))
}
