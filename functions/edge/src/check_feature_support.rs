//! `POST /api/v1/check-feature-support`: the text that an SDK shows when somebody calls what it has no operation for.

use api::http::{Route, Text};
use api::product::Input;
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("edge-check-feature-support", "/api/v1/check-feature-support")
    .summary("Says in words that a feature of an SDK is not supported")
    .writes_nothing()
    .without_secret()
    .ignores_unknown_fields();

/// The feature; whatever options its call has come along and are not looked at.
#[derive(Deserr, ToSchema)]
pub struct Feature {
    /// As the SDK names it.
    #[deserr(default)]
    name: Option<String>,
}

/// Longest name that is repeated, in characters.
const LONGEST: usize = 100;

pub async fn handle(State(app): State<App>, Input { body, .. }: Input<Feature>) -> Result<Text, Error> {
    let name: String = body.name.as_deref().unwrap_or("this").chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    let reference = format!("{}/docs/api", app.settings.site_url);
    Ok(Text(format!("This service does not support {name}. What it can do is at {reference}.\n")))
}
