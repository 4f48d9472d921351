//! Late deliveries. A partition of the table takes 1,000 write units per second. If the table
//! refuses writes to an endpoint's partition, the deliveries to that endpoint are set aside in
//! other partitions, so that the events of other endpoints need not wait. The worker that claims
//! the endpoint moves the late deliveries into the endpoint's queue.
//!
//! No event overtakes an earlier event about the same item:
//!
//! - While an endpoint has late deliveries, all later deliveries are also set aside, behind them.
//!   The deliveries in the queue are therefore earlier ones, which need not wait for those that
//!   were set aside. Code that records deliveries first reads the endpoint's item, which shows
//!   whether the endpoint has late deliveries.
//! - The changes of an item are recorded one batch after another. A batch is finished only when its
//!   late deliveries are stored, one item after another, and the endpoint's item shows that the
//!   endpoint has late deliveries.
//! - Late deliveries are moved in the order of their positions. The partitions are not read at the
//!   same instant. One partition may be read just before an item is stored there, and another one
//!   just after a later item is stored. The keys of late items are therefore read twice, and only
//!   items found both times are moved: any item that was stored before an item of the first reading
//!   is also in the second reading. Setting deliveries aside marks the endpoint's item again, so
//!   that the mark survives if it is cleared concurrently.
//!
//! Up to 32 deliveries share an item, compressed. Setting deliveries aside costs one unit for each
//! KB, and one for the endpoint's item, which is listed among due endpoints in the meantime. The id
//! of the first delivery determines the partition of an item. Nobody can choose this id, because it
//! is a digest that depends on the change's position in the table's stream. If the table refuses
//! writes to that partition, the item is stored in the next partition.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::webhook::Lane;
use model::webhook::delivery::Delivery;
use tokio::time::Instant;

use crate::table::retry::within;
use crate::table::{Error, Item, Key, Store, Write, is_made, string};
use crate::webhook::delivery::{self, NewDelivery, parts};
use crate::webhook::keys::{LATE_SHARDS, endpoint_key, late_partitions};
use crate::webhook::queue::due;

/// How long refused deliveries are retried before they are set aside.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum total size, in bytes, of the bodies in one item; DynamoDB permits 400 KB.
const MAX_BYTES: usize = 256 << 10;
/// The number of items whose keys are read from each partition at a time; reading costs one unit
/// for each 4 KB of the items.
const READ: i32 = 2;
/// The number of partitions tried for an item.
const MAX_PARTITIONS: usize = 2;
/// How long moving late deliveries may wait for the table.
const MOVING: Duration = Duration::from_secs(4);

/// A delivery in an item, with its position and the key of the item that changed.
type PackedDelivery = (Delivery, String, String);

/// Alternative writes of one item with these deliveries, in the order in which to try them, one for
/// each partition.
fn pack(lane: &Lane, part: Vec<NewDelivery>) -> Result<Vec<Write>, Error> {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return Ok(Vec::new()) };
    let sk = format!("LATE#{}#{}", first.position, last.position);
    let shard = usize::from(first.delivery.id.uuid().as_bytes()[15]);
    let expires_at = part.iter().map(|new| new.delivery.expires_at()).max().unwrap_or_default();
    let packed: Vec<PackedDelivery> = part.into_iter().map(|new| (new.delivery, new.position, new.object)).collect();
    let plain = serde_json::to_vec(&packed).map_err(|error| Error::Refused(error.to_string()))?;
    let packed = AttributeValue::B(Blob::new(lz4_flex::compress_prepend_size(&plain)));
    let partitions = late_partitions(&lane.0, lane.1).cycle().skip(shard % usize::from(LATE_SHARDS)).take(MAX_PARTITIONS);
    partitions.map(|pk| Ok(Write::put(Key::new(pk, sk.clone()), &())?.attribute("packed", packed.clone()).expires(expires_at))).collect()
}

fn unpack(lane: &Lane, item: &Item) -> Option<Vec<NewDelivery>> {
    let packed = item.get("packed")?.as_b().ok()?;
    let packed: Vec<PackedDelivery> = serde_json::from_slice(&lz4_flex::decompress_size_prepended(packed.as_ref()).ok()?).ok()?;
    let new = |(delivery, position, object)| NewDelivery { lane: lane.clone(), delivery, position, object };
    Some(packed.into_iter().map(new).collect())
}

/// Groups deliveries by endpoint, and keeps their order.
fn by_lane(new: Vec<NewDelivery>) -> BTreeMap<Lane, Vec<NewDelivery>> {
    let mut lanes: BTreeMap<Lane, Vec<NewDelivery>> = BTreeMap::new();
    for new in new {
        lanes.entry(new.lane.clone()).or_default().push(new);
    }
    lanes
}

impl Store {
    /// Records deliveries, in order for each endpoint, and makes their endpoints due. Deliveries
    /// that are already recorded stay as they are. Deliveries to endpoints in `late` are set aside,
    /// and so are deliveries to endpoints whose partition the table keeps refusing. `late` must
    /// contain every endpoint that has late deliveries at the start of the batch.
    pub async fn record_webhooks(&self, new: Vec<NewDelivery>, mut late: BTreeSet<Lane>, now: Timestamp) -> Result<(), Error> {
        let (mut aside, new): (Vec<_>, Vec<_>) = new.into_iter().partition(|new| late.contains(&new.lane));
        for part in parts(new, delivery::MAX_BYTES, |new| new.delivery.body.len()) {
            let (behind, part): (Vec<_>, Vec<_>) = part.into_iter().partition(|new| late.contains(&new.lane));
            aside.extend(behind);
            let refused = self.record_apart(part, now).await?;
            late.extend(refused.iter().map(|new| new.lane.clone()));
            aside.extend(refused);
        }
        self.set_aside(aside, now).await
    }

    /// Records deliveries that fit into one transaction. If the table refuses the transaction,
    /// records each endpoint's deliveries separately, and returns those that are still refused.
    async fn record_apart(&self, part: Vec<NewDelivery>, now: Timestamp) -> Result<Vec<NewDelivery>, Error> {
        match within(TIMEOUT, self.record_new(part.clone(), now)).await {
            Err(Error::Unavailable(_)) => {}
            result => return result.map(|()| Vec::new()),
        }
        let mut lanes: Vec<Vec<NewDelivery>> = by_lane(part).into_values().collect();
        if lanes.len() > 1 {
            let apart = lanes.iter().map(async |lane| match self.record_new(lane.clone(), now).await {
                Err(Error::Unavailable(_)) => Ok(true),
                result => result.map(|()| false),
            });
            let refused = within(TIMEOUT, try_join_all(apart)).await?;
            let mut refused = refused.into_iter();
            lanes.retain(|_| refused.next() == Some(true));
        }
        Ok(lanes.concat())
    }

    /// Sets deliveries aside, in order for each endpoint, and makes their endpoints due. Deliveries
    /// to deleted endpoints are dropped.
    async fn set_aside(&self, new: Vec<NewDelivery>, now: Timestamp) -> Result<(), Error> {
        try_join_all(by_lane(new).into_iter().map(|(lane, new)| self.set_aside_of(lane, new, now))).await.map(drop)
    }

    async fn set_aside_of(&self, lane: Lane, new: Vec<NewDelivery>, now: Timestamp) -> Result<(), Error> {
        tracing::warn!(project = %lane.0, endpoint = %lane.1, count = new.len(), "deliveries to an endpoint are set aside");
        let mut keys = Vec::new();
        for part in parts(new, MAX_BYTES, |new| new.delivery.body.len()) {
            let puts = pack(&lane, part)?;
            keys.extend(puts.iter().map(|put| put.key().clone()));
            self.store_late(puts).await?;
        }
        let marks = "SET gsi2pk = :gsi2pk, gsi2sk = if_not_exists(gsi2sk, :gsi2sk), late = :late";
        let mark = Write::update(endpoint_key(&lane.0, lane.1), marks)
            .on("attribute_exists(pk)")
            .value(":late", string(self.entropy.uuid().to_string()));
        match self.write_unrecorded(due(mark, (&lane.0, lane.1), now)).await {
            Err(Error::Conflict(_)) => try_join_all(keys.into_iter().map(|key| self.write_unrecorded(Write::delete(key)))).await.map(drop),
            result => result,
        }
    }

    /// Writes the first of these items that the table accepts.
    async fn store_late(&self, puts: Vec<Write>) -> Result<(), Error> {
        let mut result = Ok(());
        for put in puts {
            result = within(TIMEOUT, self.write_unrecorded(put)).await;
            if !matches!(result, Err(Error::Unavailable(_))) {
                break;
            }
        }
        result
    }

    /// The keys of the first items that contain an endpoint's late deliveries, in order, and
    /// whether there may be more.
    async fn first_late(&self, (project, endpoint): &Lane) -> Result<(Vec<Key>, bool), Error> {
        let pages = late_partitions(project, *endpoint)
            .map(|partition| self.query_page(self.query_partition(partition).projection_expression("pk, sk").limit(READ)));
        let pages = try_join_all(pages).await?;
        // More unread items may follow the last item of a page.
        let end = pages.iter().filter_map(|(_, next)| Key::of(next.as_ref()?)).map(|key| key.sk).min();
        let keys = pages.iter().flat_map(|(items, _)| items).filter_map(Key::of);
        let mut keys: Vec<Key> = keys.filter(|key| end.as_ref().is_none_or(|end| key.sk <= *end)).collect();
        keys.sort_by(|one, other| one.sk.cmp(&other.sk));
        Ok((keys, end.is_some()))
    }

    /// Moves the first late deliveries of an endpoint into its queue; the endpoint's item was read
    /// with the mark `late`. Takes at most four seconds, and starts no further item after two
    /// seconds. Only the worker that has claimed the endpoint may call this method.
    pub async fn readmit_webhooks(&self, lane: &Lane, late: String, now: Timestamp) -> Result<(), Error> {
        within(MOVING, self.readmit(lane, late, now)).await
    }

    async fn readmit(&self, lane: &Lane, late: String, now: Timestamp) -> Result<(), Error> {
        let (project, endpoint) = lane;
        let (began, mut has_more) = (Instant::now(), true);
        while has_more {
            let (seen, _) = self.first_late(lane).await?;
            let keys;
            (keys, has_more) = self.first_late(lane).await?;
            for key in keys {
                // The endpoint stays marked, so the remaining items follow after a pass over its
                // queue.
                if !seen.contains(&key) || began.elapsed() >= MOVING / 2 {
                    return Ok(());
                }
                self.readmit_item(lane, key, now).await?;
            }
        }
        let clear = Write::update(endpoint_key(project, *endpoint), "REMOVE late, gsi2pk, gsi2sk").on("late = :late");
        is_made(self.write_unrecorded(clear.value(":late", string(late))).await).map(drop)
    }

    /// Moves the deliveries of one item into the queue. If the item no longer exists, it was
    /// already moved or has expired.
    async fn readmit_item(&self, lane: &Lane, key: Key, now: Timestamp) -> Result<(), Error> {
        let Some(item) = self.get_now(&key).await? else { return Ok(()) };
        match unpack(lane, &item) {
            Some(mut new) => {
                // DynamoDB deletes expired items up to days later, in any order.
                new.retain(|new| new.delivery.expires_at() > now);
                self.record_new(new, now).await?;
            }
            None => tracing::error!(project = %lane.0, endpoint = %lane.1, "late deliveries are lost, because their item cannot be parsed"),
        }
        let Some(mark) = item.get("mark") else { return Ok(()) };
        // A batch that was read again may have stored different deliveries under the same key in
        // the meantime.
        is_made(self.write_unrecorded(Write::delete(key).on("mark = :mark").value(":mark", mark.clone())).await).map(drop)
    }
}
