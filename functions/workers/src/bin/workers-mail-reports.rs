//! Lambda of [`workers::reports`], for events of SES, delivered by EventBridge.

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
            // SES does not repeat an event whose handling fails. Lambda repeats the invocation
            // and, if it keeps failing, moves the event to the dead-letter queue.
            Some(told) => reports::take(app, &told).await?,
            None => {
                tracing::info!(kind = %event.payload["detail"]["eventType"], "an event of SES was ignored, because it changes no email in the outbox");
                false
            }
        };
        Ok::<_, Error>(json!({ "moved": moved }))
    }))
    .await
}
