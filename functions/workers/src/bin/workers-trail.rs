//! Lambda of [`workers::trail`], for the table's stream.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::trail;

fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        let (mut linked, mut failed) = (0, None);
        // Only the projects are taken from the event; the table shows which entries are not linked
        // yet.
        for project in trail::projects(&event.payload) {
            match trail::link(app, &project).await {
                Ok(entries) => linked += entries,
                Err(error) => {
                    tracing::error!(%error, %project, "could not add the new entries of an audit trail to its chain; the batch will be retried");
                    failed = Some(error);
                }
            }
        }
        // After an error, the stream delivers the batch again; linked entries are not linked twice.
        failed.map_or_else(|| Ok(json!({ "linked": linked })), |error| Err(error.into()))
    })
}
