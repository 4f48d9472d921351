//! A broadcast becomes entries of the outbox, one transaction after another.

use shared::App;
use shared::model::id::{BroadcastId, ProjectId};
use shared::store;

use crate::fail_point::reached;

/// Makes the next entries; says how many. None when another worker was faster, or everybody has one.
pub(crate) async fn expand(app: &App, project: &ProjectId, id: BroadcastId) -> Result<usize, store::Error> {
    let Some(row) = app.store.broadcast(project, id).await? else { return Ok(0) };
    reached("expanding");
    let made = match app.store.expand_broadcast(project, &row, app.clock.now()).await {
        Err(store::Error::Conflict(_)) => 0,
        result => result?,
    };
    reached("expanded");
    Ok(made)
}
