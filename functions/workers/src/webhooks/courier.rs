//! Runs the work of several endpoints side by side, each in a task of its own, so that an endpoint
//! that does not answer delays no other. The number of tasks is limited. While due endpoints wait
//! for a task, each task ends after one pass over its queue, and the place of a task that has ended
//! goes to the project with the fewest tasks. So however many endpoints a project has, and however
//! slowly they answer, they do not keep out those of other projects.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flows::App;
use jiff::Timestamp;
use model::webhook::Lane;
use tokio::task::{Id, JoinSet};
use wire::id::ProjectId;

use crate::webhooks::lane;

/// The maximum number of endpoints that are worked on at the same time. A task mostly waits.
const AT_ONCE: usize = 256;
/// The number of due endpoints that are read from each shard.
const READ: i32 = 200;

/// Endpoints that are being worked on, each with its task.
pub struct Courier {
    places: usize,
    tasks: JoinSet<()>,
    busy: HashMap<Lane, Id>,
    /// Whether due endpoints wait for a place.
    is_crowded: Arc<AtomicBool>,
}

impl Default for Courier {
    fn default() -> Self {
        Self::with_places(AT_ONCE)
    }
}

impl Courier {
    /// A courier that works on at most this many endpoints at the same time.
    pub fn with_places(places: usize) -> Self {
        Self { places, tasks: JoinSet::new(), busy: HashMap::new(), is_crowded: Arc::default() }
    }

    /// Begins to work on endpoints that are due, and returns on how many. No pass over the queue of
    /// an endpoint begins after `until`.
    pub async fn begin(&mut self, app: &App, until: Timestamp) -> Result<usize, store::Error> {
        let mut next = self.in_turn(app.store.due_webhooks(app.clock.now(), READ).await?);
        let free = self.places.saturating_sub(self.busy.len());
        self.is_crowded.store(next.len() > free, Ordering::Relaxed);
        next.truncate(free);
        let begun = next.len();
        for lane in next {
            let (app, own, is_crowded) = (app.clone(), lane.clone(), Arc::clone(&self.is_crowded));
            let task = self.tasks.spawn(async move {
                if let Err(error) = lane::work(&app, &own, until, &is_crowded).await {
                    tracing::warn!(%error, project = %own.0, endpoint = %own.1, "deliveries to an endpoint stopped; they stay due");
                }
            });
            self.busy.insert(lane, task.id());
        }
        Ok(begun)
    }

    /// The endpoints in `due` that no task works on, in the order in which they get free places:
    /// each place goes to an endpoint of a project that has the fewest places by then, and among
    /// these endpoints to the first in `due`, which has been due longest.
    fn in_turn(&self, due: Vec<Lane>) -> Vec<Lane> {
        let mut places: HashMap<ProjectId, usize> = HashMap::new();
        for (project, _) in self.busy.keys() {
            *places.entry(project.clone()).or_default() += 1;
        }
        let waiting = due.into_iter().filter(|lane| !self.busy.contains_key(lane));
        let mut ranked: Vec<(usize, Lane)> = waiting
            .map(|lane| {
                let rank = places.entry(lane.0.clone()).or_default();
                *rank += 1;
                (*rank, lane)
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, lane)| lane).collect()
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
