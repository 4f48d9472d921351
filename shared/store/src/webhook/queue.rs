//! The queue of each endpoint's pending deliveries, and the list of endpoints that are due.
//!
//! A worker claims an endpoint for the duration of a lease. Only one worker therefore sends to an
//! endpoint, which keeps deliveries in order, and a slow endpoint occupies only one worker. The due
//! time in the endpoint's state determines when a worker should next look at the queue. An endpoint
//! is due immediately after a delivery was recorded, or at the end of a current lease. In all other
//! cases, an endpoint is due at the time of the next retry. Recording a delivery increments the
//! version of the state. A delivery recorded during a lease does not make the endpoint due, because
//! no other worker could claim the endpoint. When the worker ends the lease, it notices the new
//! version and makes the endpoint due immediately. If the worker is killed, the endpoint is due at
//! the end of the lease.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use model::webhook::health::Health;
use model::webhook::{Lane, delivery};
use wire::clock::after;
use wire::id::{ProjectId, WebhookDeliveryId, WebhookEndpointId};

use crate::table::sharded::shard_of;
use crate::table::{Error, Item, Key, MAX_WRITES, Store, Write, integer, number, sortable, string};
use crate::webhook::keys::{late_partitions, partition};

/// How long a worker may work on an endpoint before another worker may claim the endpoint.
pub const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// The number of partitions for due endpoints.
const SHARDS: u8 = 4;
/// The maximum number of items that one query reads.
const READ: i32 = 1000;

/// The place of a pending delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The position in the queue: the position of the change in the table's stream or, for a
    /// replay, a position after all changes.
    pub position: String,
    /// The key of the item that changed; for a replay, a string unique to this delivery. The events
    /// about an item are delivered one after another.
    pub object: String,
    /// The delivery.
    pub delivery: WebhookDeliveryId,
    /// The time when the next attempt is due.
    pub due_at: Timestamp,
}

/// An endpoint that a worker has claimed.
#[derive(Debug, Clone)]
pub struct ClaimedEndpoint {
    /// The project and the endpoint.
    pub lane: Lane,
    /// The health of the endpoint after its last attempts.
    pub health: Health,
    version: u64,
    until: Timestamp,
}

pub(super) fn state_key(project: &ProjectId, endpoint: WebhookEndpointId) -> Key {
    Key::new(partition(project, endpoint), "STATE")
}

pub(super) fn place_key(project: &ProjectId, endpoint: WebhookEndpointId, position: &str) -> Key {
    Key::new(partition(project, endpoint), format!("QUEUE#{position}"))
}

fn shard(endpoint: WebhookEndpointId) -> u8 {
    shard_of(endpoint.uuid(), SHARDS)
}

fn shard_partition(shard: u8) -> String {
    format!("WEBHOOKS#{shard}")
}

pub(super) fn due(write: Write, (project, endpoint): (&ProjectId, WebhookEndpointId), at: Timestamp) -> Write {
    let position = format!("{}#{project}#{endpoint}", sortable(at));
    write.value(":gsi2pk", string(shard_partition(shard(endpoint)))).value(":gsi2sk", string(position))
}

/// Makes an endpoint due immediately or, if a worker has claimed the endpoint, when that worker
/// ends its lease.
pub(super) fn wake(project: &ProjectId, endpoint: WebhookEndpointId, now: Timestamp) -> Write {
    // `held` is the position that a claimed endpoint has among the due endpoints; it is absent
    // without a claim.
    let wake = Write::update(state_key(project, endpoint), "SET gsi2pk = :gsi2pk, gsi2sk = if_not_exists(held, :gsi2sk) ADD version :one");
    due(wake, (project, endpoint), now).value(":one", integer(1))
}

/// Makes a re-enabled endpoint due, so that its pending deliveries are sent, and resets its
/// failures.
pub fn fresh_start(project: &ProjectId, endpoint: WebhookEndpointId, now: Timestamp) -> Write {
    wake(project, endpoint, now).expression(
        "SET gsi2pk = :gsi2pk, gsi2sk = if_not_exists(held, :gsi2sk) REMOVE failing_since, failed_at ADD version :one".to_owned(),
    )
}

/// Writes the place of a delivery.
pub(super) fn place(project: &ProjectId, endpoint: WebhookEndpointId, place: &Place) -> Result<Write, Error> {
    let ends_at = after(place.due_at, delivery::KEPT);
    let write = Write::put(place_key(project, endpoint, &place.position), &())?.expires(ends_at);
    let write = write.attribute("object", string(&place.object)).attribute("delivery", string(place.delivery.to_string()));
    Ok(write.attribute("due_at", integer(place.due_at.as_millisecond())))
}

impl Place {
    fn of(item: &Item) -> Option<Self> {
        let text = |name: &str| item.get(name)?.as_s().ok();
        Some(Self {
            position: text("sk")?.strip_prefix("QUEUE#")?.to_owned(),
            object: text("object")?.clone(),
            delivery: WebhookDeliveryId::parse(text("delivery")?).ok()?,
            due_at: Timestamp::from_millisecond(number(item, "due_at")?).ok()?,
        })
    }
}

pub(super) fn health(item: &Item) -> Health {
    let time = |name: &str| Timestamp::from_millisecond(number(item, name)?).ok();
    let last = item.get("last").and_then(|last| serde_dynamo::from_attribute_value(last.clone()).ok());
    Health { failing_since: time("failing_since"), failed_at: time("failed_at"), last }
}

/// Ends a claim and writes the state of the endpoint. The caller must add the condition.
fn released(claimed: &ClaimedEndpoint, next: Option<Timestamp>) -> Result<Write, Error> {
    let ((project, endpoint), ClaimedEndpoint { health, until, .. }) = (&claimed.lane, claimed);
    let mut write = Write::update(state_key(project, *endpoint), String::new()).value(":until", integer(until.as_millisecond()));
    let (mut sets, mut removes) = (vec!["#last = :last".to_owned()], vec!["lease, held".to_owned()]);
    for (name, time) in [("failing_since", health.failing_since), ("failed_at", health.failed_at)] {
        match time {
            Some(time) => {
                sets.push(format!("{name} = :{name}"));
                write = write.value(&format!(":{name}"), integer(time.as_millisecond()));
            }
            None => removes.push(name.to_owned()),
        }
    }
    match next {
        Some(next) => {
            sets.push("gsi2pk = :gsi2pk, gsi2sk = :gsi2sk".to_owned());
            write = due(write, (project, *endpoint), next);
        }
        None => removes.push("gsi2pk, gsi2sk".to_owned()),
    }
    let write = write.expression(format!("SET {} REMOVE {}", sets.join(", "), removes.join(", ")));
    write.name("#last", "last").entity(":last", &health.last)
}

impl Store {
    /// The due endpoints, at most `limit` from each shard; endpoints that have been due longest
    /// come first.
    pub async fn due_webhooks(&self, now: Timestamp, limit: i32) -> Result<Vec<Lane>, Error> {
        let until = format!("{}#~", sortable(now));
        let read = (0..SHARDS).map(|shard| self.keys_between(shard_partition(shard), "0".to_owned(), until.clone(), limit));
        let mut items: Vec<Item> = futures_util::future::try_join_all(read).await?.into_iter().flatten().collect();
        let position = |item: &Item| item.get("gsi2sk").and_then(|value| value.as_s().ok()).cloned();
        items.sort_by_cached_key(position);
        let lane = |item: &Item| {
            let position = position(item)?;
            let (project, endpoint) = position.split_once('#')?.1.split_once('#')?;
            Some((ProjectId::parse(project).ok()?, WebhookEndpointId::parse(endpoint).ok()?))
        };
        // An endpoint with late deliveries may be listed twice.
        let mut seen = HashSet::new();
        Ok(items.iter().filter_map(lane).filter(|lane| seen.insert(lane.clone())).collect())
    }

    /// Claims an endpoint; `None` if another worker has claimed it.
    pub async fn claim_webhook(&self, (project, endpoint): &Lane, now: Timestamp) -> Result<Option<ClaimedEndpoint>, Error> {
        let until = after(now, LEASE);
        // If the claim creates the state, `ADD` gives the state its version.
        let claims = "SET lease = :until, held = :gsi2sk, gsi2pk = :gsi2pk, gsi2sk = :gsi2sk ADD version :zero";
        let claim = Write::update(state_key(project, *endpoint), claims)
            .on("attribute_not_exists(lease) OR lease <= :now")
            .value(":zero", integer(0))
            .value(":until", integer(until.as_millisecond()))
            .value(":now", integer(now.as_millisecond()));
        match due(claim, (project, *endpoint), until).send_returning(&self.client, &self.table).await {
            Ok(item) => {
                let version = number(&item, "version").unwrap_or_default();
                Ok(Some(ClaimedEndpoint { lane: (project.clone(), *endpoint), health: health(&item), version, until }))
            }
            Err(Error::Conflict(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends a claim. The endpoint is due again at `next`, or immediately if a delivery was recorded
    /// during the claim; if `next` is `None`, it is due once a delivery is recorded. Does nothing
    /// if the lease has passed to another worker.
    pub async fn release_webhook(&self, claimed: &ClaimedEndpoint, next: Option<Timestamp>, now: Timestamp) -> Result<(), Error> {
        let unchanged = released(claimed, next)?.on("lease = :until AND version = :version").value(":version", integer(claimed.version));
        match self.write_unrecorded(unchanged).await {
            Err(Error::Conflict(_)) => match self.write_unrecorded(released(claimed, Some(now))?.on("lease = :until")).await {
                Err(Error::Conflict(_)) => Ok(()),
                result => result,
            },
            result => result,
        }
    }

    /// Ends all leases. Only a process that runs all workers may call this method, before it starts
    /// the workers: every lease then belongs to a worker that is no longer running.
    pub async fn free_webhooks(&self, now: Timestamp) -> Result<(), Error> {
        for (project, endpoint) in self.due_webhooks(after(now, LEASE), READ).await? {
            let free = Write::update(state_key(&project, endpoint), "SET gsi2pk = :gsi2pk, gsi2sk = :gsi2sk REMOVE lease, held");
            match self.write_unrecorded(due(free.on("attribute_exists(pk)"), (&project, endpoint), now)).await {
                Ok(()) | Err(Error::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The first part of an endpoint's queue, or the part after a key, in order, and the key after
    /// which the next part begins; `None` after the last part. A part has at most `limit` places.
    pub async fn webhook_places(
        &self,
        (project, endpoint): &Lane,
        after: Option<Item>,
        limit: i32,
    ) -> Result<(Vec<Place>, Option<Item>), Error> {
        let query = self.query_prefix(partition(project, *endpoint), "QUEUE#").set_exclusive_start_key(after).limit(limit);
        let (items, next) = self.query_page(query).await?;
        Ok((items.iter().filter_map(Place::of).collect(), next))
    }

    /// The health of these endpoints, in the same order.
    pub async fn webhook_health(&self, project: &ProjectId, endpoints: &[WebhookEndpointId]) -> Result<Vec<Health>, Error> {
        let keys: Vec<Key> = endpoints.iter().map(|endpoint| state_key(project, *endpoint)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.get_many(keys.clone()).await?;
        Ok(keys.iter().map(|key| items.take(key).map(|item| health(&item)).unwrap_or_default()).collect())
    }

    /// Deletes the remaining items of a deleted endpoint, at most a thousand from each of its
    /// partitions; `true` if all items are deleted.
    pub async fn purge_webhook(&self, (project, endpoint): &Lane) -> Result<bool, Error> {
        let state = state_key(project, *endpoint);
        for partition in late_partitions(project, *endpoint).chain([partition(project, *endpoint)]) {
            let query = self.query_partition(partition).projection_expression("pk, sk").limit(READ);
            let (items, next) = self.query_page(query).await?;
            let keys: Vec<Key> = items.iter().filter_map(Key::of).filter(|key| *key != state).collect();
            for keys in keys.chunks(MAX_WRITES) {
                self.transact_unrecorded(keys.iter().cloned().map(Write::delete).collect()).await?;
            }
            if next.is_some() {
                return Ok(false);
            }
        }
        // This item makes the endpoint due, so it is deleted last.
        self.write_unrecorded(Write::delete(state)).await?;
        Ok(true)
    }
}
