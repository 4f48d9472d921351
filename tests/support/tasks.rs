//! The workers. The workers run only when a test calls them. The record of a run includes the
//! workers' use of the table.

use jiff::Timestamp;
use serde_json::{Value, json};
use wire::id::ProjectId;

use crate::{TestApp, roles};

impl TestApp {
    /// Completes pending deletions as the worker does, and returns the number of completed
    /// deletions.
    pub async fn end_deletions(&self) -> usize {
        let end = tokio::time::Instant::now() + std::time::Duration::from_secs(300);
        roles::within(Some("workers-endings"), workers::endings::step(&self.app, end)).await.unwrap()
    }

    /// Links the entries of the project's trail as the worker does, and returns the number of
    /// linked entries.
    pub async fn link_trail(&self) -> usize {
        self.try_link(self.project_id()).await.unwrap()
    }

    /// Links the entries of a project's trail as the worker does, and returns the number of linked
    /// entries.
    pub async fn try_link(&self, project: &ProjectId) -> Result<usize, store::Error> {
        roles::within(Some("workers-trail"), workers::trail::link(&self.app, project)).await
    }

    /// The event that the stream sends for all new sessions that contain a trail entry.
    pub fn carrying_sessions(&self) -> Value {
        let carrying = self.table().into_iter().filter(|(_, item)| item.get("trail").is_some());
        let record = |(number, ((pk, sk), item)): (usize, _)| {
            json!({
                "eventName": "INSERT",
                "dynamodb": {
                    "Keys": { "pk": { "S": pk }, "sk": { "S": sk } },
                    "NewImage": item,
                    "SequenceNumber": number.to_string(),
                    "ApproximateCreationDateTime": self.now().as_second(),
                },
            })
        };
        json!({ "Records": carrying.enumerate().map(record).collect::<Vec<_>>() })
    }

    /// Adds the entries in an event of the stream to the trail and links them, as the worker does.
    /// Returns the number of linked entries.
    pub async fn process_trail(&self, event: &Value) -> Result<usize, store::Error> {
        roles::within(Some("workers-trail"), workers::trail::process(&self.app, event)).await
    }

    /// Records the events of all changes so far, as the webhook worker does, and returns the number
    /// of new deliveries.
    pub async fn record_webhooks(&self) -> usize {
        let mut recorded = 0;
        while let Some(batch) = self.engine.changes().await.unwrap() {
            recorded += self.record_batch(batch).await;
        }
        recorded
    }

    /// Records the events of a batch of changes, and returns the number of new deliveries.
    pub async fn record_batch(&self, batch: gateway::engine::Batch) -> usize {
        let recorded = roles::within(Some("workers-changes"), workers::webhooks::record(&self.app, &batch.event)).await.unwrap();
        self.engine.finish(batch).await.unwrap();
        recorded
    }

    /// The next changes whose events are not recorded yet. `None` if there are no such changes.
    pub async fn changes(&self) -> Option<gateway::engine::Batch> {
        self.engine.changes().await.unwrap()
    }

    /// Records the events of all changes so far, and makes the due deliveries.
    pub async fn deliver_webhooks(&self) {
        self.record_webhooks().await;
        let mut courier = workers::webhooks::Courier::default();
        roles::within(Some("workers-webhooks"), courier.drain(&self.app, Timestamp::MAX)).await.unwrap();
    }
}
