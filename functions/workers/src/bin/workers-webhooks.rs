//! Lambda of [`workers::webhooks`], which makes due deliveries. The function is started when events
//! have been recorded and, for retries, by a schedule every minute.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::webhooks::Courier;

fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        // Moving late deliveries takes up to 4 seconds, and processing the queue of an endpoint
        // takes up to 45 seconds. Each of these steps therefore begins at least 50 seconds before
        // the deadline.
        Courier::default().drain(app, event.deadline - jiff::SignedDuration::from_secs(50)).await?;
        Ok(json!({ "done": true }))
    })
}
