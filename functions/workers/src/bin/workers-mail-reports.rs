//! Lambda of [`workers::reports`], for events that SES sends through EventBridge.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::reports;

fn main() -> Result<(), Error> {
    lambda::run(App::without_secret, async |app, event| {
        let moved = match reports::read(&event.payload) {
            // If handling an event fails, SES does not repeat the event, but Lambda repeats the
            // invocation. If the invocation keeps failing, Lambda moves the event to the
            // dead-letter queue.
            Some(told) => reports::take(app, &told).await?,
            None => {
                tracing::info!(kind = %event.payload["detail"]["eventType"], "an event of SES was ignored, because it does not change an email in the outbox");
                false
            }
        };
        Ok(json!({ "moved": moved }))
    })
}
