//! `POST /api/v1/check-feature-support`: returns the message that SDKs show when an app uses a
//! feature for which Gatelet has no operation.

use api::http::{BodyRule, Route, Text};
use api::product::Input;
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("edge-check-feature-support", "/api/v1/check-feature-support")
    .summary("Returns a message that an SDK feature is not supported")
    .writes_nothing()
    .without_secret()
    .body(BodyRule::Lenient);

/// The feature. Options of the SDK call are accepted and ignored.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct Feature {
    /// The name that the SDK gives to the feature.
    name: Option<String>,
}

/// The maximum length of a name that the message repeats, in characters.
const MAX_NAME: usize = 100;

pub async fn handle(State(app): State<App>, Input { body, .. }: Input<Feature>) -> Result<Text, Error> {
    let name: String = body.name.as_deref().unwrap_or("this").chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    let reference = format!("{}/docs/api", app.settings.site_url);
    Ok(Text(format!("This service does not support {name}. Supported operations: {reference}\n")))
}
