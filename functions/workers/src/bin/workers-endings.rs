//! Lambda of [`workers::endings`], which a schedule runs every minute.

use std::time::Duration;

use flows::App;
use serde_json::json;
use tokio::time::Instant;
use workers::endings;
use workers::lambda::{self, Error};

fn main() -> Result<(), Error> {
    lambda::run(App::without_secret, async |app, event| {
        let left = Duration::try_from(event.deadline.duration_since(app.clock.now())).unwrap_or_default();
        let done = endings::step(app, Instant::now() + left.saturating_sub(endings::MARGIN)).await?;
        Ok(json!({ "done": done }))
    })
}
