//! Lambda of [`workers::webhooks`], which delivers what is due: started when events were recorded,
//! and by a schedule every minute for retries.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::webhooks::Courier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        // A pass over an endpoint takes at most 45 seconds, so the last one begins no later than 50
        // seconds before the deadline.
        Courier::default().drain(app, event.deadline - jiff::SignedDuration::from_secs(50)).await?;
        Ok(json!({ "done": true }))
    })
    .await
}
