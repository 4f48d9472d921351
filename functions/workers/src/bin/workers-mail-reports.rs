//! Lambda of [`workers::reports`], for the events of SES that EventBridge brings.

use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use workers::reports;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    api::http::log::init();
    let app = App::without_secret()?;
    let app = &app;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        let moved = match reports::read(&event.payload) {
            // A failure is tried again by EventBridge's queue, as SES tells it once.
            Some(told) => reports::take(app, &told).await?,
            None => {
                tracing::info!(kind = %event.payload["detail"]["eventType"], "a report is on no mail of the outbox");
                false
            }
        };
        Ok::<_, Error>(json!({ "moved": moved }))
    }))
    .await
}
