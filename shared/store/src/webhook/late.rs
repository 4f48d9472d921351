//! Late deliveries. A partition of the table takes 1,000 write units in each second. If the table
//! refuses writes to the partition of an endpoint, the deliveries to that endpoint are set aside in
//! another partition, so that the events of other endpoints do not wait for them. The worker that
//! claims the endpoint moves them into its queue.
//!
//! No event overtakes an earlier event of the same item:
//!
//! - While an endpoint has late deliveries, all further ones are set aside as well, behind the
//!   others. So the deliveries in the queue are the earlier ones, and need not wait for those set
//!   aside. Whoever records deliveries knows this from the endpoint's item, which they read first.
//! - The changes of an item are recorded one batch after another, and a batch is finished only when
//!   its late deliveries are stored and the endpoint's item shows that there are some.
//! - Late deliveries are moved in the order of their positions. The endpoint's item is marked anew
//!   after deliveries were set aside, so it stays marked if that happens while it is cleared.
//!
//! Up to 32 deliveries share an item, compressed: setting them aside costs one unit for each KB,
//! and one for the endpoint's item, which is listed among due endpoints meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::webhook::Lane;
use model::webhook::delivery::Delivery;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, string};
use crate::retry::within;
use crate::webhook::delivery::{self, NewDelivery, parts};
use crate::webhook::keys::{endpoint_key, late_partition};
use crate::webhook::queue::due;
use crate::write::Write;

/// How long deliveries that the table refuses are tried again before they are set aside.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum total size, in bytes, of the bodies in one item; DynamoDB permits 400 KB.
const MAX_BYTES: usize = 256 << 10;
/// The number of items that are moved into the queue in one go.
const MOVED: i32 = 8;
/// How long moving them may wait for the table.
const MOVING: Duration = Duration::from_secs(4);

/// A delivery in an item, with its position and the key of the item that changed.
type Packed = (Delivery, String, String);

fn pack(lane: &Lane, part: Vec<NewDelivery>) -> Result<Option<Write>, Error> {
    let (Some(first), Some(last)) = (part.first(), part.last()) else { return Ok(None) };
    let key = Key::new(late_partition(&lane.0, lane.1), format!("LATE#{}#{}", first.position, last.position));
    let expires_at = part.iter().map(|new| new.delivery.expires_at()).max().unwrap_or_default();
    let packed: Vec<Packed> = part.into_iter().map(|new| (new.delivery, new.position, new.object)).collect();
    let plain = serde_json::to_vec(&packed).map_err(|error| Error::Refused(error.to_string()))?;
    let packed = AttributeValue::B(Blob::new(lz4_flex::compress_prepend_size(&plain)));
    Ok(Some(Write::put(key, &())?.attribute("packed", packed).expires(expires_at)))
}

fn unpack(lane: &Lane, item: &Item) -> Option<Vec<NewDelivery>> {
    let packed = item.get("packed")?.as_b().ok()?;
    let packed: Vec<Packed> = serde_json::from_slice(&lz4_flex::decompress_size_prepended(packed.as_ref()).ok()?).ok()?;
    let new = |(delivery, position, object)| NewDelivery { lane: lane.clone(), delivery, position, object };
    Some(packed.into_iter().map(new).collect())
}

/// Deliveries by their endpoints, in their order.
fn by_lane(new: Vec<NewDelivery>) -> BTreeMap<Lane, Vec<NewDelivery>> {
    let mut lanes: BTreeMap<Lane, Vec<NewDelivery>> = BTreeMap::new();
    for new in new {
        lanes.entry(new.lane.clone()).or_default().push(new);
    }
    lanes
}

impl Store {
    /// Records deliveries, in order for each endpoint, and makes their endpoints due. Deliveries
    /// that are already recorded stay as they are. Those to the endpoints in `late` are set aside,
    /// and so are those to endpoints whose partition the table keeps refusing. `late` must contain
    /// every endpoint that had late deliveries when the batch was begun.
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

    /// Records deliveries that fit into one transaction. If the table refuses that, records those
    /// of each endpoint separately, and returns those that it still refuses.
    async fn record_apart(&self, part: Vec<NewDelivery>, now: Timestamp) -> Result<Vec<NewDelivery>, Error> {
        match within(PATIENCE, self.record_new(part.clone(), now)).await {
            Err(Error::Unavailable(_)) => {}
            result => return result.map(|()| Vec::new()),
        }
        let mut lanes: Vec<Vec<NewDelivery>> = by_lane(part).into_values().collect();
        if lanes.len() > 1 {
            let apart = lanes.iter().map(async |lane| match self.record_new(lane.clone(), now).await {
                Err(Error::Unavailable(_)) => Ok(true),
                result => result.map(|()| false),
            });
            let refused = within(PATIENCE, try_join_all(apart)).await?;
            let mut refused = refused.into_iter();
            lanes.retain(|_| refused.next() == Some(true));
        }
        Ok(lanes.concat())
    }

    /// Sets deliveries aside, in order for each endpoint, and makes their endpoints due. Those of a
    /// deleted endpoint are dropped.
    async fn set_aside(&self, new: Vec<NewDelivery>, now: Timestamp) -> Result<(), Error> {
        try_join_all(by_lane(new).into_iter().map(|(lane, new)| self.set_aside_of(lane, new, now))).await.map(drop)
    }

    async fn set_aside_of(&self, lane: Lane, new: Vec<NewDelivery>, now: Timestamp) -> Result<(), Error> {
        tracing::warn!(project = %lane.0, endpoint = %lane.1, count = new.len(), "deliveries to an endpoint are set aside");
        let mut keys = Vec::new();
        for part in parts(new, MAX_BYTES, |new| new.delivery.body.len()) {
            let Some(put) = pack(&lane, part)? else { continue };
            keys.push(put.key().clone());
            self.write_unrecorded(put).await?;
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

    /// Moves the first late deliveries of an endpoint, whose item was read with this mark, into its
    /// queue: up to 256, and for at most four seconds. Only for the worker that has claimed the
    /// endpoint.
    pub async fn readmit_webhooks(&self, lane: &Lane, late: String, now: Timestamp) -> Result<(), Error> {
        within(MOVING, self.readmit(lane, late, now)).await
    }

    async fn readmit(&self, lane: &Lane, late: String, now: Timestamp) -> Result<(), Error> {
        let (project, endpoint) = lane;
        let query = self
            .query()
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", string(late_partition(project, *endpoint)))
            .consistent_read(true)
            .limit(MOVED);
        let (items, next) = self.query_page(query).await?;
        for item in items {
            match unpack(lane, &item) {
                Some(new) => self.record_new(new, now).await?,
                None => tracing::error!(%project, %endpoint, "late deliveries are lost, because their item cannot be parsed"),
            }
            let (Some(key), Some(mark)) = (Key::of(&item), item.get("mark")) else { continue };
            // Others may have been stored under the same key meanwhile, by a batch that was read
            // again.
            match self.write_unrecorded(Write::delete(key).on("mark = :mark").value(":mark", mark.clone())).await {
                Ok(()) | Err(Error::Conflict(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if next.is_some() {
            return Ok(());
        }
        let clear = Write::update(endpoint_key(project, *endpoint), "REMOVE late, gsi2pk, gsi2sk").on("late = :late");
        match self.write_unrecorded(clear.value(":late", string(late))).await {
            Ok(()) | Err(Error::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
