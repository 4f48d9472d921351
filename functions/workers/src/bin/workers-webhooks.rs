//! Lambda of [`workers::webhooks`], which delivers what is due: started when events were recorded,
//! and by a schedule every minute for retries.

use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use workers::webhooks::Courier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    api::http::log::init();
    let app = App::from_env()?;
    let app = &app;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        // A pass over an endpoint takes at most 45 seconds, so the last one begins no later than 50
        // seconds before the deadline.
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        Courier::default().drain(app, deadline - jiff::SignedDuration::from_secs(50)).await?;
        Ok::<_, Error>(json!({ "done": true }))
    }))
    .await
}
