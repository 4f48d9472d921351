//! Runs the Lambda of a worker.

use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use wire::environment;

/// Handles every event of a Lambda with `handle`. `app` creates the app from the environment.
///
/// # Errors
/// The app cannot be created, or the Lambda runtime fails. Errors of `handle` are only reported to
/// Lambda.
pub async fn run(
    app: impl FnOnce() -> Result<App, environment::Error>,
    handle: impl AsyncFn(&App, LambdaEvent<Value>) -> Result<Value, Error>,
) -> Result<(), Error> {
    api::http::log::init();
    let app = app()?;
    lambda_runtime::run(service_fn(|event| handle(&app, event))).await
}
