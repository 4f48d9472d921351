//! Lambda of [`workers::endings`], run by a schedule every minute.

use std::time::Duration;

use flows::App;
use lambda_runtime::Error;
use serde_json::json;
use tokio::time::Instant;
use workers::{endings, lambda};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::run(App::without_secret, async |app, event| {
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let left = Duration::try_from(deadline.duration_since(app.clock.now())).unwrap_or_default();
        let done = endings::step(app, Instant::now() + left.saturating_sub(endings::MARGIN)).await?;
        Ok(json!({ "done": done }))
    })
    .await
}
