//! Lambda of [`workers::outbox`], for the table's stream and for the schedule of each minute.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use shared::App;
use shared::mail::ses::Ses;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_runtime::tracing::init_default_subscriber();
    let app = App::from_env()?;
    let ses = Ses::from_env(app.clock.clone())?;
    let (app, ses) = (&app, &ses);
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        // What the event says does not matter: the index knows what is due. Five seconds are kept for the last entries.
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let moved = workers::outbox::drain(app, ses, deadline - jiff::SignedDuration::from_secs(5)).await?;
        Ok::<_, Error>(serde_json::json!({ "moved": moved }))
    }))
    .await
}
