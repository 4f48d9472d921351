//! Runs the work of several endpoints side by side, each in a task of its own, so that an endpoint
//! that does not answer delays no other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use flows::App;
use jiff::Timestamp;
use model::webhook::Lane;
use tokio::task::{Id, JoinSet};

use crate::webhooks::lane;

/// The number of endpoints that are worked on at the same time. A task mostly waits.
const AT_ONCE: usize = 256;
/// The number of due endpoints that are read from each shard.
const READ: i32 = 200;

/// Endpoints that are being worked on, each with its task.
#[derive(Default)]
pub struct Courier {
    tasks: JoinSet<()>,
    busy: HashMap<Lane, Id>,
}

impl Courier {
    /// Begins to work on endpoints that are due, and returns on how many. No pass over the queue of
    /// an endpoint begins after `until`.
    pub async fn begin(&mut self, app: &App, until: Timestamp) -> Result<usize, store::Error> {
        let mut begun = 0;
        for lane in app.store.due_webhooks(app.clock.now(), READ).await? {
            if self.busy.len() >= AT_ONCE {
                break;
            }
            if let Entry::Vacant(entry) = self.busy.entry(lane) {
                begun += 1;
                let (app, lane) = (app.clone(), entry.key().clone());
                let task = self.tasks.spawn(async move {
                    if let Err(error) = lane::work(&app, &lane, until).await {
                        tracing::warn!(%error, project = %lane.0, endpoint = %lane.1, "deliveries to an endpoint stopped; they stay due");
                    }
                });
                entry.insert(task.id());
            }
        }
        Ok(begun)
    }

    /// Waits until the work on an endpoint ends; `false` if there is none.
    pub async fn ended(&mut self) -> bool {
        let ended = match self.tasks.join_next_with_id().await {
            Some(Ok((task, ()))) => task,
            Some(Err(error)) => {
                tracing::error!(%error, "the task of a webhook endpoint failed");
                error.id()
            }
            None => return false,
        };
        self.busy.retain(|_, task| *task != ended);
        true
    }

    /// Works on due endpoints until none is due or `until` has passed, and waits for work that has
    /// begun.
    pub async fn drain(&mut self, app: &App, until: Timestamp) -> Result<(), store::Error> {
        loop {
            if app.clock.now() < until {
                self.begin(app, until).await?;
            }
            if !self.ended().await {
                return Ok(());
            }
        }
    }
}
