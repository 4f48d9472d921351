//! Lambda of [`workers::endings`], run by a schedule every minute.

use std::time::Duration;

use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};
use tokio::time::Instant;
use workers::endings;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    api::http::log::init();
    let app = App::without_secret()?;
    let app = &app;
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let left = Duration::try_from(deadline.duration_since(app.clock.now())).unwrap_or_default();
        let done = endings::step(app, Instant::now() + left.saturating_sub(endings::MARGIN)).await?;
        Ok::<_, Error>(json!({ "done": done }))
    }))
    .await
}
