//! Lambda of [`workers::outbox`], run by the table's stream and by a schedule every minute.
//!
//! It also records the events of webhooks ([`workers::webhooks`]): a stream should have no more
//! than two readers, and the other reader, the worker of the audit trail, waits for up to a minute
//! to get larger batches.

use email::sandbox;
use email::ses::Ses;
use email::smtp::{ByProject, Smtp};
use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;
use workers::webhooks::{Wake, record};

fn main() -> Result<(), Error> {
    sandbox::install();
    run()
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<(), Error> {
    api::http::log::init();
    let app = App::from_env()?;
    let own = Smtp::from_env(&app.settings, app.clock.clone())?;
    let mailer = ByProject { own, deployments: Ses::from_env(app.clock.clone())? };
    let (app, mailer, wake) = (&app, &mailer, &Wake::from_env()?);
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        // If this fails, the stream delivers the batch again.
        if record(app, &event.payload).await? > 0
            && let Some(wake) = wake
        {
            wake.start().await;
        }
        // To the outbox, the content of the event does not matter: the index tells which entries
        // are due. Sending begins at the latest 25 seconds before the deadline, so that the last
        // email has all the time that a mail provider may take.
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let sent = workers::outbox::drain(app, mailer, deadline - jiff::SignedDuration::from_secs(25)).await;
        let is_scheduled = event.payload.get("Records").is_none();
        let moved = match sent {
            // The schedule tries again, so the stream need not deliver the batch again.
            Err(error) if !is_scheduled => {
                tracing::error!(%error, "a step of the outbox failed; the schedule tries again");
                0
            }
            moved => moved?,
        };
        // The metric is written only once a minute, when the schedule starts this function; the
        // stream can start the function far more often.
        if is_scheduled {
            let (now, oldest) = (app.clock.now(), app.store.oldest_due(app.clock.now()).await?);
            let age = oldest.map(|due| now.duration_since(due).unsigned_abs()).unwrap_or_default();
            api::http::log::oldest_due_mail(app, age);
        }
        Ok::<_, Error>(serde_json::json!({ "moved": moved }))
    }))
    .await
}
