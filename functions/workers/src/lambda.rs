//! Runs the Lambda of a worker.

use aws::runtime;
use flows::App;
use jiff::Timestamp;
use serde_json::Value;
use wire::environment;

pub use aws::runtime::{Error, block_on};

/// An event that invokes a Lambda.
#[derive(Debug)]
pub struct Event {
    /// The content of the event.
    pub payload: Value,
    /// The time when Lambda ends the invocation.
    pub deadline: Timestamp,
}

/// Calls `handle` for every event of a Lambda. `app` creates the app from the environment.
///
/// # Errors
/// Fails if the app cannot be created, or if Lambda's Runtime API is unavailable. Errors that
/// `handle` returns are only reported to Lambda.
pub fn run(
    app: impl FnOnce() -> Result<App, environment::Error>,
    handle: impl AsyncFn(&App, Event) -> Result<Value, Error>,
) -> Result<(), Error> {
    block_on(async {
        api::http::log::init();
        let app = app()?;
        events(async |event| handle(&app, event).await).await
    })
}

/// Like [`run`], but for a caller that has already set up the log and everything that `handle`
/// needs.
///
/// # Errors
/// Fails if Lambda's Runtime API is unavailable.
pub async fn events(handle: impl AsyncFn(Event) -> Result<Value, Error>) -> Result<(), Error> {
    runtime::run(async |event| {
        let deadline = Timestamp::from_millisecond(event.deadline)?;
        let event = Event { payload: serde_json::from_slice(&event.body)?, deadline };
        Ok::<_, Error>(serde_json::to_vec(&handle(event).await?)?)
    })
    .await
}
