//! Processes the queues of several endpoints in parallel, each in a separate task. An endpoint that
//! does not respond therefore does not delay other endpoints. The number of tasks is limited. While
//! due endpoints wait for a task, each task ends after one pass over its queue. The next task goes
//! to an endpoint of the project with the fewest tasks. A project with many or slow endpoints
//! therefore does not delay the deliveries of other projects.
//!
//! An endpoint is skipped for some seconds if another worker has claimed it, or if processing its
//! queue failed. A separate worker that finds only such endpoints therefore ends, instead of trying
//! them again and again. The deliveries of these endpoints are not forgotten. A worker checks an
//! endpoint's queue again before it releases the endpoint. The endpoint of a killed worker becomes
//! due when the lease ends. A worker also looks for due endpoints at least once a minute.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flows::App;
use jiff::{SignedDuration, Timestamp};
use model::webhook::Lane;
use tokio::task::{Id, JoinSet};
use tokio::time::timeout;
use wire::clock::after;
use wire::id::ProjectId;

use crate::webhooks::lane;

/// The maximum number of endpoints that are processed at the same time. The number can be large,
/// because tasks mostly wait.
const AT_ONCE: usize = 256;
/// The number of due endpoints that are read from each shard.
const READ: i32 = 200;
/// The time for which an endpoint is skipped if another worker has claimed it, or if processing its
/// queue failed.
const ASIDE: SignedDuration = SignedDuration::from_secs(5);
/// The maximum time for which [`Courier::drain`] waits before it looks for due endpoints again.
const LOOK: Duration = Duration::from_secs(2);

/// The endpoints that are being processed, each with its task.
pub struct Courier {
    places: usize,
    /// A task returns the time until which its endpoint is skipped. `None` if the endpoint is not
    /// skipped.
    tasks: JoinSet<Option<Timestamp>>,
    busy: HashMap<Lane, Id>,
    /// The endpoints that are being skipped, each with the time until which it is skipped.
    aside: HashMap<Lane, Timestamp>,
    /// Whether due endpoints are waiting for a task.
    is_crowded: Arc<AtomicBool>,
}

impl Default for Courier {
    fn default() -> Self {
        Self::with_places(AT_ONCE)
    }
}

impl Courier {
    /// A courier that processes at most `places` endpoints at the same time.
    pub fn with_places(places: usize) -> Self {
        Self { places, tasks: JoinSet::new(), busy: HashMap::new(), aside: HashMap::new(), is_crowded: Arc::default() }
    }

    /// Starts to process the queues of due endpoints, and returns the number of endpoints. No pass
    /// over the queues of these endpoints begins after `until`.
    pub async fn begin(&mut self, app: &App, until: Timestamp) -> Result<usize, store::Error> {
        let now = app.clock.now();
        self.aside.retain(|_, until| *until > now);
        let mut next = self.in_turn(app.store.due_webhooks(now, READ).await?);
        let free = self.places.saturating_sub(self.busy.len());
        self.is_crowded.store(next.len() > free, Ordering::Relaxed);
        next.truncate(free);
        let begun = next.len();
        for lane in next {
            let (app, own, is_crowded) = (app.clone(), lane.clone(), Arc::clone(&self.is_crowded));
            let task = self.tasks.spawn(async move {
                let is_done = lane::work(&app, &own, until, &is_crowded).await.unwrap_or_else(|error| {
                    tracing::warn!(%error, project = %own.0, endpoint = %own.1, "deliveries to an endpoint stopped; they stay due");
                    false
                });
                (!is_done).then(|| after(app.clock.now(), ASIDE))
            });
            self.busy.insert(lane, task.id());
        }
        Ok(begun)
    }

    /// The endpoints in `due` that have no task and are not skipped, in the order in which they get
    /// free places. Each place goes to an endpoint of the project that has the fewest places at
    /// this time. Among the endpoints of that project, the place goes to the first in `due`, which
    /// has been due the longest.
    fn in_turn(&self, due: Vec<Lane>) -> Vec<Lane> {
        let mut places: HashMap<ProjectId, usize> = HashMap::new();
        for (project, _) in self.busy.keys() {
            *places.entry(project.clone()).or_default() += 1;
        }
        let waiting = due.into_iter().filter(|lane| !self.busy.contains_key(lane) && !self.aside.contains_key(lane));
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

    /// Waits until the task of one endpoint ends. `false` if there are no tasks.
    pub async fn ended(&mut self) -> bool {
        let (ended, until) = match self.tasks.join_next_with_id().await {
            Some(Ok(ended)) => ended,
            Some(Err(error)) => {
                tracing::error!(%error, "the task of a webhook endpoint failed");
                (error.id(), None)
            }
            None => return false,
        };
        let lanes = self.busy.extract_if(|_, task| *task == ended);
        self.aside.extend(lanes.filter_map(|(lane, _)| Some((lane, until?))));
        true
    }

    /// Processes due endpoints until only skipped endpoints are due, or until `until` has passed.
    /// Then waits for the tasks that have begun. If the search for due endpoints fails, returns its
    /// error after the tasks that have begun are done.
    pub async fn drain(&mut self, app: &App, until: Timestamp) -> Result<(), store::Error> {
        let mut found = Ok(0);
        loop {
            if found.is_ok() && app.clock.now() < until {
                found = self.begin(app, until).await;
            }
            // Other endpoints may become due while slow endpoints are being processed.
            if let Ok(false) = timeout(LOOK, self.ended()).await {
                return found.map(drop);
            }
        }
    }
}
