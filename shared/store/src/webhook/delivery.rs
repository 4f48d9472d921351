//! Records deliveries with their places in the queue, updates them after each attempt, and lists
//! them.

use std::collections::{BTreeSet, HashMap, HashSet};

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::webhook::Lane;
use model::webhook::delivery::{Delivery, DeliveryStatus};
use model::webhook::event::EventType;
use wire::id::{ProjectId, WebhookDeliveryId, WebhookEndpointId};

use crate::table::sharded::{is_over, size};
use crate::table::{Error, Key, MAX_WRITES, Store, Write, entity, integer};
use crate::webhook::EndpointRow;
use crate::webhook::keys::partition;
use crate::webhook::queue::{Place, place, place_key, wake};

/// The maximum number of deliveries recorded or updated in one transaction.
pub const AT_ONCE: usize = 32;
/// The maximum total size, in bytes, of the bodies in one transaction; DynamoDB permits 4 MB.
pub(super) const MAX_BYTES: usize = 1 << 20;
/// The maximum number of deliveries that one query for a page reads.
const READ: i32 = 100;
/// The maximum number of queries for a page.
const MAX_QUERIES: usize = 5;

/// A delivery to record.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// The project and the endpoint.
    pub lane: Lane,
    /// The delivery.
    pub delivery: Delivery,
    /// The position in the queue ([`Place::position`]).
    pub position: String,
    /// The key of the item that changed; for a replay, a string unique to this delivery.
    pub object: String,
}

/// A pending delivery with its place.
#[derive(Debug, Clone)]
pub struct PendingDelivery {
    /// The place.
    pub place: Place,
    /// The delivery.
    pub delivery: Delivery,
}

/// Specifies the part of the list to read.
#[derive(Debug, Clone, Copy)]
pub struct DeliveryListing<'a> {
    /// Lists only deliveries with this status; `None` for any status.
    pub status: Option<DeliveryStatus>,
    /// Lists only events of this type; `None` for any type.
    pub event_type: Option<EventType>,
    /// The position after which the page begins; `None` for the first page.
    pub after: Option<&'a str>,
    /// The maximum number of deliveries in the page.
    pub limit: usize,
}

pub(super) fn delivery_key(project: &ProjectId, endpoint: WebhookEndpointId, id: WebhookDeliveryId) -> Key {
    Key::new(partition(project, endpoint), format!("DELIVERY#{id}"))
}

impl NewDelivery {
    fn key(&self) -> Key {
        delivery_key(&self.lane.0, self.lane.1, self.delivery.id)
    }

    pub(super) fn writes(&self, now: Timestamp) -> Result<[Write; 2], Error> {
        let ((project, endpoint), delivery) = (&self.lane, &self.delivery);
        let (position, object) = (self.position.clone(), self.object.clone());
        let at = Place { position, object, delivery: delivery.id, due_at: delivery.next_attempt_at.unwrap_or(now) };
        Ok([Write::create(self.key(), delivery)?.expires(delivery.expires_at()), place(project, *endpoint, &at)?])
    }
}

/// Divides a list into parts of at most [`AT_ONCE`] elements. A part with several elements has at
/// most `max` bytes in total.
pub(super) fn parts<T>(all: Vec<T>, max: usize, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut parts: Vec<(usize, Vec<T>)> = Vec::new();
    for one in all {
        let size = bytes(&one);
        match parts.last_mut().filter(|(total, part)| part.len() < AT_ONCE && *total + size <= max) {
            Some((total, part)) => {
                *total += size;
                part.push(one);
            }
            None => parts.push((size, vec![one])),
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

impl Store {
    /// Records deliveries that fit into one transaction, except those that have already been
    /// recorded.
    pub(super) async fn record_new(&self, part: Vec<NewDelivery>, now: Timestamp) -> Result<(), Error> {
        match self.record_part(&part, now).await {
            Err(Error::Conflict(_)) => {
                let keys: Vec<Key> = part.iter().map(NewDelivery::key).collect();
                let mut known = self.get_many(keys).await?;
                let missing: Vec<NewDelivery> = part.into_iter().filter(|new| known.take(&new.key()).is_none()).collect();
                self.record_part(&missing, now).await
            }
            result => result,
        }
    }

    async fn record_part(&self, part: &[NewDelivery], now: Timestamp) -> Result<(), Error> {
        let lanes: BTreeSet<&Lane> = part.iter().map(|new| &new.lane).collect();
        let mut writes = Vec::new();
        for new in part {
            writes.extend(new.writes(now)?);
        }
        writes.extend(lanes.into_iter().map(|(project, endpoint)| wake(project, *endpoint, now)));
        if writes.is_empty() { Ok(()) } else { self.transact_unrecorded(writes).await }
    }

    /// The deliveries at these places of an endpoint's queue. Places whose deliveries have expired
    /// or ended are deleted.
    pub async fn pending_webhooks(&self, (project, endpoint): &Lane, places: Vec<Place>) -> Result<Vec<PendingDelivery>, Error> {
        let keys: Vec<Key> = places.iter().map(|place| delivery_key(project, *endpoint, place.delivery)).collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut items = self.get_many(keys.iter().collect::<HashSet<_>>().into_iter().cloned()).await?;
        let mut pending = Vec::new();
        for (place, key) in places.into_iter().zip(keys) {
            let delivery: Option<Delivery> = items.take(&key).map(entity).transpose()?;
            match delivery.filter(|delivery| delivery.status == DeliveryStatus::Pending) {
                Some(delivery) => pending.push(PendingDelivery { place, delivery }),
                None => self.write_unrecorded(Write::delete(place_key(project, *endpoint, &place.position))).await?,
            }
        }
        Ok(pending)
    }

    /// Updates deliveries after their attempts. A delivery without a next attempt loses its place.
    pub async fn settle_webhooks(&self, (project, endpoint): &Lane, settled: Vec<PendingDelivery>) -> Result<(), Error> {
        // Without its body, a delivery takes at most ten KB, most of it for the attempts.
        for part in parts(settled, MAX_BYTES, |pending| pending.delivery.body.len() + (10 << 10)) {
            let mut writes = Vec::new();
            for PendingDelivery { place: before, delivery } in &part {
                let outcome =
                    Write::update(delivery_key(project, *endpoint, delivery.id), "SET d.#status = :status, d.attempts = :attempts");
                let outcome = outcome.on("attribute_exists(pk)").name("#status", "status");
                let outcome = outcome.entity(":status", &delivery.status)?.entity(":attempts", &delivery.attempts)?;
                let (set, remove) = ("SET d.#status = :status, d.attempts = :attempts", "d.next_attempt_at");
                writes.extend(match delivery.next_attempt_at {
                    Some(due_at) => {
                        let outcome =
                            outcome.expression(format!("{set}, {remove} = :next")).value(":next", integer(due_at.as_millisecond()));
                        [outcome, place(project, *endpoint, &Place { due_at, ..before.clone() })?]
                    }
                    None => [
                        outcome.expression(format!("{set} REMOVE {remove}")),
                        Write::delete(place_key(project, *endpoint, &before.position)),
                    ],
                });
            }
            self.transact_unrecorded(writes).await?;
        }
        Ok(())
    }

    /// Records a delivery that has already been attempted.
    pub async fn put_webhook_delivery(&self, (project, endpoint): &Lane, delivery: &Delivery) -> Result<(), Error> {
        let put = Write::create(delivery_key(project, *endpoint, delivery.id), delivery)?.expires(delivery.expires_at());
        self.write(put).await
    }

    /// A delivery of an endpoint.
    pub async fn webhook_delivery(&self, (project, endpoint): &Lane, id: WebhookDeliveryId) -> Result<Option<Delivery>, Error> {
        self.get(&delivery_key(project, *endpoint, id)).await?.map(entity).transpose()
    }

    /// The deliveries of an endpoint, newest first, with the position after which the next page
    /// begins, if there may be one. A search may return a short page even if more deliveries
    /// follow.
    pub async fn webhook_deliveries(
        &self,
        (project, endpoint): &Lane,
        listing: DeliveryListing<'_>,
    ) -> Result<(Vec<Delivery>, Option<String>), Error> {
        let is_wanted = |delivery: &Delivery| {
            listing.status.is_none_or(|status| status == delivery.status)
                && listing.event_type.is_none_or(|event_type| event_type == delivery.event_type)
        };
        let (mut rows, mut bytes, mut before) = (Vec::new(), 0, listing.after.map_or_else(|| "DELIVERY#~".to_owned(), str::to_owned));
        for _ in 0..MAX_QUERIES {
            let query = self.query_range(partition(project, *endpoint), "DELIVERY#", &before).scan_index_forward(false).limit(READ);
            let (items, next) = self.query_page(query).await?;
            for item in items {
                let sk = item.get("sk").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
                // The range includes `before`, which an earlier query has returned.
                if sk == before {
                    continue;
                }
                let delivery: Delivery = entity(item)?;
                if is_wanted(&delivery) {
                    let size = size(&delivery);
                    if rows.len() == listing.limit || is_over(bytes, size) {
                        return Ok((rows, Some(before)));
                    }
                    bytes += size;
                    rows.push(delivery);
                }
                before = sk;
            }
            if next.is_none() {
                return Ok((rows, None));
            }
        }
        Ok((rows, Some(before)))
    }

    /// The endpoints of these projects.
    pub async fn webhooks_of(&self, projects: BTreeSet<ProjectId>) -> Result<HashMap<ProjectId, Vec<EndpointRow>>, Error> {
        let read = projects.into_iter().map(async |project| Ok::<_, Error>((project.clone(), self.webhook_rows(&project).await?)));
        Ok(try_join_all(read).await?.into_iter().collect())
    }
}

/// A transaction writes two items for each delivery and one for each endpoint; in the worst case,
/// all deliveries have different endpoints.
const _: () = assert!(AT_ONCE * 3 <= MAX_WRITES);
