//! A broadcast becomes entries of the outbox, one transaction after another.

use flows::App;
use wire::id::{BroadcastId, ProjectId};

use crate::fail_point::reached;

/// Makes the next entries, about as many as `wanted`; says how many. None when another worker was faster, or everybody has one.
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
