//! Replays deliveries: records new deliveries of their events, and marks the old deliveries.

use jiff::Timestamp;
use model::webhook::Lane;
use model::webhook::delivery::{Delivery, DeliveryStatus};
use wire::id::WebhookDeliveryId;

use crate::table::{Error, Key, MAX_WRITES, Store, Write, entity, integer, sortable};
use crate::webhook::delivery::{AT_ONCE, MAX_BYTES, NewDelivery, delivery_key, parts};
use crate::webhook::keys::{endpoint_key, partition};
use crate::webhook::queue::wake;

/// The maximum number of failed deliveries that one call returns, not counting those created at the
/// same time as the last one.
const MAX_REPLAYED: usize = 1000;
/// The number of bytes of bodies that one call reads.
const MAX_BODIES: usize = 3 << 20;

/// A new delivery of an old delivery's event, requested by an administrator.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The old delivery.
    of: WebhookDeliveryId,
    new: NewDelivery,
}

impl Replay {
    /// A new delivery, with this id, of the event of `old`. The new delivery is placed after the
    /// pending deliveries of changes, and earlier deliveries about the same item do not delay it.
    pub fn new(lane: Lane, old: &Delivery, id: WebhookDeliveryId, now: Timestamp) -> Self {
        let position = format!("REPLAY#{}#{id}", sortable(now));
        let new = NewDelivery { lane, delivery: old.again(id, now), position, object: format!("REPLAY#{id}") };
        Self { of: old.id, new }
    }

    /// The new delivery.
    pub fn delivery(self) -> Delivery {
        self.new.delivery
    }

    fn old_key(&self) -> Key {
        delivery_key(&self.new.lane.0, self.new.lane.1, self.of)
    }

    fn writes(&self, condition: &'static str, now: Timestamp) -> Result<[Write; 3], Error> {
        let [put, place] = self.new.writes(now)?;
        let mark = Write::update(self.old_key(), "SET d.replayed_at = :now").on(condition).value(":now", integer(now.as_millisecond()));
        Ok([put, place, mark])
    }
}

impl Store {
    /// The failed deliveries created at `since` or later that have not been replayed, oldest first,
    /// and the time to continue from; `None` if there are no more deliveries. A call ends after a
    /// thousand deliveries or 3 MB of bodies. A call never ends between deliveries created at the
    /// same time, so that no delivery is left out. Many deliveries can have the same time, because
    /// the times in the table's stream are whole seconds.
    pub async fn failed_webhooks(&self, (project, endpoint): &Lane, since: Timestamp) -> Result<(Vec<Delivery>, Option<Timestamp>), Error> {
        let millis = u64::try_from(since.as_millisecond()).unwrap_or_default();
        let first = uuid::Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid();
        let (mut failed, mut bytes, mut from) = (Vec::new(), 0, None);
        loop {
            let query = self
                .query_range(partition(project, *endpoint), delivery_key(project, *endpoint, first.into()).sk, "DELIVERY#~")
                .filter_expression("d.#status = :failed AND attribute_not_exists(d.replayed_at)")
                .expression_attribute_names("#status", "status")
                .expression_attribute_values(":failed", serde_dynamo::to_attribute_value(DeliveryStatus::Failed)?)
                .set_exclusive_start_key(from);
            let (items, next) = self.query_page(query).await?;
            for item in items {
                let delivery: Delivery = entity(item)?;
                let is_full = failed.len() >= MAX_REPLAYED || bytes > MAX_BODIES;
                if is_full && failed.last().is_some_and(|last: &Delivery| last.created_at < delivery.created_at) {
                    return Ok((failed, Some(delivery.created_at)));
                }
                bytes += delivery.body.len();
                failed.push(delivery);
            }
            from = next;
            if from.is_none() {
                return Ok((failed, None));
            }
        }
    }

    /// Records an administrator's replay, regardless of the status of the old delivery; fails with
    /// [`Error::Conflict`] if the endpoint or the old delivery does not exist.
    pub async fn replay_webhook(&self, replay: &Replay, now: Timestamp) -> Result<(), Error> {
        let (project, endpoint) = &replay.new.lane;
        let exists = "attribute_exists(pk)";
        let mut writes = vec![wake(project, *endpoint, now), Write::check(endpoint_key(project, *endpoint), exists)];
        writes.extend(replay.writes(exists, now)?);
        self.transact(writes).await
    }

    /// Records an administrator's replays, all to the same endpoint; skips deliveries that no
    /// longer exist or have already been replayed. Returns the number of recorded replays; fails
    /// with [`Error::Conflict`] if the endpoint does not exist.
    pub async fn replay_webhooks(&self, replays: Vec<Replay>, now: Timestamp) -> Result<usize, Error> {
        let mut count = 0;
        for mut part in parts(replays, MAX_BYTES, |replay| replay.new.delivery.body.len()) {
            while let Some(Replay { new: NewDelivery { lane: (project, endpoint), .. }, .. }) = part.first() {
                let mut writes = vec![wake(project, *endpoint, now)];
                // After a successful transaction, the endpoint is not checked again: if the
                // endpoint is deleted later, the worker deletes the deliveries.
                if count == 0 {
                    writes.push(Write::check(endpoint_key(project, *endpoint), "attribute_exists(pk)"));
                }
                for replay in &part {
                    writes.extend(replay.writes("attribute_exists(pk) AND attribute_not_exists(d.replayed_at)", now)?);
                }
                match self.transact(writes).await {
                    Ok(()) => {
                        count += part.len();
                        break;
                    }
                    Err(Error::Conflict(conflict)) => {
                        let left = self.not_replayed(&part).await?;
                        if left.len() == part.len() {
                            return Err(Error::Conflict(conflict));
                        }
                        part = left;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(count)
    }

    /// The replays whose old deliveries exist and have not been replayed.
    async fn not_replayed(&self, replays: &[Replay]) -> Result<Vec<Replay>, Error> {
        let mut found = self.get_many(replays.iter().map(Replay::old_key)).await?;
        let mut left = Vec::new();
        for replay in replays {
            let old: Option<Delivery> = found.take(&replay.old_key()).map(entity).transpose()?;
            left.extend(old.filter(|old| old.replayed_at.is_none()).map(|_| replay.clone()));
        }
        Ok(left)
    }
}

/// A transaction writes three items for each replay, and two for the endpoint.
const _: () = assert!(AT_ONCE * 3 + 2 <= MAX_WRITES);
