//! `GET /api/v1/internal/backend-urls`: lists the base URLs of the API. SDKs without a configured
//! URL fetch the list and try the URLs in order.

use api::http::{Json, Route};
use api::product::Input;
use axum::extract::State;
use errors::Error;
use flows::App;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route =
    Route::get("edge-backend-urls", "/api/v1/internal/backend-urls").summary("Lists the base URLs of the API").without_secret();

#[derive(Serialize, ToSchema)]
pub struct BackendUrls {
    /// The base URLs, in order of preference.
    urls: Vec<String>,
}

pub async fn handle(State(app): State<App>, _: Input) -> Result<Json<BackendUrls>, Error> {
    Ok(Json(BackendUrls { urls: vec![app.settings.api_url.clone()] }))
}
