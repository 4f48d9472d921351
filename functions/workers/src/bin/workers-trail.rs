//! Lambda of [`workers::trail`], for the table's stream.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::trail;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        let (mut linked, mut failed) = (0, None);
        // The event only names the projects; the table shows which entries no link covers yet.
        for project in trail::projects(&event.payload) {
            match trail::link(app, &project).await {
                Ok(entries) => linked += entries,
                Err(error) => {
                    tracing::error!(%error, %project, "could not add the new entries of an audit trail to its chain; the batch will be retried");
                    failed = Some(error);
                }
            }
        }
        // After an error, the stream delivers the batch again; entries that a link covers already
        // are not linked again.
        failed.map_or_else(|| Ok(json!({ "linked": linked })), |error| Err(error.into()))
    })
    .await
}
