//! Lambda of [`workers::webhooks`], which delivers what is due: started when events were recorded,
//! and by a schedule every minute for retries.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::webhooks::Courier;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        // Moving late deliveries takes at most 4 seconds, and a pass over an endpoint 45. So the
        // last ones begin no later than 50 seconds before the deadline.
        Courier::default().drain(app, event.deadline - jiff::SignedDuration::from_secs(50)).await?;
        Ok(json!({ "done": true }))
    })
    .await
}
