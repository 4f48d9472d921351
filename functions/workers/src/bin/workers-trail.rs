//! Lambda of [`workers::trail`], for the table's stream.

use flows::App;
use serde_json::json;
use workers::lambda::{self, Error};
use workers::trail;

fn main() -> Result<(), Error> {
    lambda::run(App::from_env, async |app, event| {
        let linked = trail::process(app, &event.payload).await?;
        Ok(json!({ "linked": linked }))
    })
}
