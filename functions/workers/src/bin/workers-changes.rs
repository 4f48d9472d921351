//! Lambda of the table's stream, which records the events of webhooks ([`workers::webhooks`]) and
//! starts the functions that send emails and deliver events.
//!
//! The function does nothing else, because the stream waits for it to finish. The batches of a
//! shard are read one after another, and kept for a day. Emails and webhooks share one function,
//! because a stream should have at most two readers. The second reader is the worker of the audit
//! trail, which waits up to a minute to get larger batches.

use flows::App;
use jiff::SignedDuration;
use serde_json::json;
use store::outbox::work;
use workers::lambda::{self, Error};
use workers::wake::Wake;
use workers::webhooks::record;

/// The maximum difference between the clocks of functions.
const SKEW: SignedDuration = SignedDuration::from_secs(5);

fn main() -> Result<(), Error> {
    let wakes = ["GATELET_OUTBOX_FUNCTION", "GATELET_WEBHOOKS_FUNCTION"].map(Wake::from_env);
    let [outbox, webhooks] = wakes;
    let (outbox, webhooks) = (&outbox?, &webhooks?);
    lambda::run(App::without_secret, async |app, event| {
        // The functions that send emails are started first, because emails do not depend on
        // webhooks.
        if work::is_in(&event.payload, app.clock.now() + SKEW)
            && let Some(outbox) = outbox
        {
            outbox.start().await;
        }
        // If recording fails, the stream delivers the batch again.
        let recorded = record(app, &event.payload).await?;
        if recorded > 0
            && let Some(webhooks) = webhooks
        {
            webhooks.start().await;
        }
        Ok(json!({ "recorded": recorded }))
    })
}
