//! Lambda of [`workers::outbox`], run by the table's stream and by a schedule every minute.

use email::sandbox;
use email::ses::Ses;
use email::smtp::{ByProject, Smtp};
use flows::App;
use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;

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
    let (app, mailer) = (&app, &mailer);
    lambda_runtime::run(service_fn(|event: LambdaEvent<Value>| async move {
        // The content of the event does not matter: the index tells which entries are due. Sending
        // begins at the latest 25 seconds before the deadline, so that the last email has all the
        // time that a mail provider may take.
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let moved = workers::outbox::drain(app, mailer, deadline - jiff::SignedDuration::from_secs(25)).await?;
        // The metric is written only once a minute, when the schedule starts this function; the
        // stream starts it after every write.
        if event.payload.get("Records").is_none() {
            let (now, oldest) = (app.clock.now(), app.store.oldest_due(app.clock.now()).await?);
            let age = oldest.map(|due| now.duration_since(due).unsigned_abs()).unwrap_or_default();
            api::http::log::oldest_due_mail(app, age);
        }
        Ok::<_, Error>(serde_json::json!({ "moved": moved }))
    }))
    .await
}
