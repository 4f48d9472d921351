//! Lambda of [`workers::outbox`], for the table's stream and for the schedule of each minute.

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
        // What the event says does not matter: the index knows what is due. The last mail has all the time that a mail service may take.
        let deadline = jiff::Timestamp::from_millisecond(i64::try_from(event.context.deadline)?)?;
        let moved = workers::outbox::drain(app, mailer, deadline - jiff::SignedDuration::from_secs(25)).await?;
        // Each minute, by the schedule: the stream comes with every write.
        if event.payload.get("Records").is_none() {
            let (now, oldest) = (app.clock.now(), app.store.oldest_due(app.clock.now()).await?);
            let age = oldest.map(|due| now.duration_since(due).unsigned_abs()).unwrap_or_default();
            api::http::log::oldest_due_mail(app, age);
        }
        Ok::<_, Error>(serde_json::json!({ "moved": moved }))
    }))
    .await
}
