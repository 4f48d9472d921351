//! Expands a broadcast into outbox entries, one transaction after another.

use flows::App;
use wire::id::{BroadcastId, ProjectId};

use crate::fail_point::reached;

/// Creates about `wanted` more entries, and returns the number of created entries. Stops early if
/// another worker was faster, or if every recipient has an entry.
pub(crate) async fn expand(app: &App, project: &ProjectId, id: BroadcastId, wanted: usize) -> Result<usize, store::Error> {
    let mut made = 0;
    while made < wanted {
        let Some(row) = app.store.broadcast(project, id).await? else { break };
        reached("expanding", 1);
        made += match app.store.expand_broadcast(project, &row, app.clock.now()).await {
            Err(store::Error::Conflict(_)) => break,
            result => result?,
        };
        reached("expanded", 1);
    }
    Ok(made)
}
