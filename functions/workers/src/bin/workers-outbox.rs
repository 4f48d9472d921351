//! Lambda of [`workers::outbox`]. `workers-changes` starts this function when there is work, and a
//! schedule starts it every minute.

use email::sandbox;
use email::ses::Ses;
use email::smtp::{ProjectMailer, Smtp};
use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::outbox::{drain, drain_in_turn};

fn main() -> Result<(), Error> {
    sandbox::install();
    lambda::block_on(run())
}

async fn run() -> Result<(), Error> {
    api::http::log::init();
    let app = App::from_env()?;
    let own = Smtp::from_env(&app.settings, app.clock.clone())?;
    let mailer = ProjectMailer { own, deployments: Ses::from_env(app.clock.clone())? };
    let (app, mailer) = (&app, &mailer);
    lambda::events(async |event| {
        // An update of the deployment may replace this function before it attaches the stream to
        // `workers-changes`. Until then, the stream keeps its batches.
        if event.payload.get("Records").is_some() {
            return Err("this function does not read the table's stream".into());
        }
        // Sending begins at least 25 seconds before the deadline, so that the mail provider has its
        // full time for the last email.
        let until = event.deadline - jiff::SignedDuration::from_secs(25);
        let is_scheduled = event.payload.get("source").is_some();
        let moved = if is_scheduled {
            drain(app, mailer, until).await?
        } else {
            drain_in_turn(app, mailer, until).await.unwrap_or_else(|error| {
                tracing::error!(%error, "a step of the outbox failed; the schedule tries again");
                0
            })
        };
        // The metric is written only once a minute, because the function can be started far more
        // often.
        if is_scheduled {
            let (now, oldest) = (app.clock.now(), app.store.oldest_due(app.clock.now()).await?);
            let age = oldest.map(|due| now.duration_since(due).unsigned_abs()).unwrap_or_default();
            api::http::log::oldest_due_mail(app, age);
        }
        Ok(json!({ "moved": moved }))
    })
    .await
}
