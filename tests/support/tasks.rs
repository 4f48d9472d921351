//! The workers, run only on demand. The record of a run includes their use of the table.

use jiff::Timestamp;
use wire::id::ProjectId;

use crate::{TestApp, roles};

impl TestApp {
    /// Completes pending deletions as the worker does; returns how many were completed.
    pub async fn end_deletions(&self) -> usize {
        let end = tokio::time::Instant::now() + std::time::Duration::from_secs(300);
        roles::within(Some("workers-endings"), workers::endings::step(&self.app, end)).await.unwrap()
    }

    /// Links the entries of the project's trail as the worker does; returns how many were
    /// linked.
    pub async fn link_trail(&self) -> usize {
        self.try_link(self.project_id()).await.unwrap()
    }

    /// Links the entries of a project's trail as the worker does; returns how many were linked.
    pub async fn try_link(&self, project: &ProjectId) -> Result<usize, store::Error> {
        roles::within(Some("workers-trail"), workers::trail::link(&self.app, project)).await
    }

    /// Records the events of all changes so far, as the webhook worker does; returns the number of
    /// new deliveries.
    pub async fn record_webhooks(&self) -> usize {
        let mut recorded = 0;
        while let Some(batch) = self.engine.changes().await.unwrap() {
            recorded += self.record_batch(batch).await;
        }
        recorded
    }

    /// Records the events of a batch of changes; returns the number of new deliveries.
    pub async fn record_batch(&self, batch: gateway::engine::Batch) -> usize {
        let recorded = roles::within(Some("workers-changes"), workers::webhooks::record(&self.app, &batch.event)).await.unwrap();
        self.engine.finish(batch).await.unwrap();
        recorded
    }

    /// The next changes with unrecorded events; `None` if there are none.
    pub async fn changes(&self) -> Option<gateway::engine::Batch> {
        self.engine.changes().await.unwrap()
    }

    /// Records the events of all changes so far, and makes due deliveries.
    pub async fn deliver_webhooks(&self) {
        self.record_webhooks().await;
        let mut courier = workers::webhooks::Courier::default();
        roles::within(Some("workers-webhooks"), courier.drain(&self.app, Timestamp::MAX)).await.unwrap();
    }
}
