//! The trail of a project: entries that are added and never changed.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | entry | `P#<P>#TRAIL#<yyyy-mm-dd>` | time, id | gsi1 `P#<P>#TRAIL#USER#<user>` / time, id, of those that are about an account |
//! | failed sign-ins of a minute | the same | start of the minute, id of the account and the minute | the same; `n` is their number |
//!
//! An entry is written in the transaction of what it tells, which costs 2 units more for each KB and, about an account, as much for the
//! index. A project has one partition a day (UTC), so that all of a day can be read in order, and what a deletion has to look for is known:
//! about 500 entries a second are what one takes.
//!
//! Days are read strongly consistent, half a unit for each 2 KB; those of a user lag behind a little, as every index, and cost half.

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use ring::digest::{SHA256, digest};

use super::sharded::{Listing, MAX_PAGE_BYTES, Page, size};
use super::{Error, Item, Key, Store, Write, entity, integer, number, sortable, string, table};
use crate::model::id::{ProjectId, TrailEntryId, UserId};
use crate::model::trail::Entry;

/// How often a day is read for one page.
const ROUNDS: usize = 3;

pub(super) fn day_partition(project: &ProjectId, day: Date) -> String {
    format!("P#{project}#TRAIL#{day}")
}

fn user_partition(project: &ProjectId, user: UserId) -> String {
    format!("P#{project}#TRAIL#USER#{user}")
}

/// The day (UTC) of a time.
pub fn day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// Where an entry is in its day and among those of its user; ascending with time. Cursors of lists are made of it.
pub fn position(at: Timestamp, id: TrailEntryId) -> String {
    format!("{}#{id}", sortable(at))
}

fn key(project: &ProjectId, entry: &Entry) -> Key {
    Key::new(day_partition(project, day(entry.at)), position(entry.at, entry.id))
}

/// Adds an entry, which expires so many days later.
pub fn put(project: &ProjectId, entry: &Entry, retention_days: u16) -> Result<Write, Error> {
    let mut write = Write::put(key(project, entry), entry)?.expires(entry.expires_at(retention_days));
    if let Some(user) = entry.user_id {
        write = write.attribute("gsi1pk", string(user_partition(project, user)));
        write = write.attribute("gsi1sk", string(position(entry.at, entry.id)));
    }
    Ok(write)
}

/// Adds an entry, or counts one more where it is already.
pub fn count(project: &ProjectId, entry: &Entry, retention_days: u16) -> Result<Write, Error> {
    let index = if entry.user_id.is_some() { ", gsi1pk = :gsi1pk, gsi1sk = :gsi1sk" } else { "" };
    let set = format!("SET d = if_not_exists(d, :d), #ttl = :ttl{index} ADD n :one");
    let mut write = Write::update(key(project, entry), set)
        .name("#ttl", table::TTL)
        .entity(":d", entry)?
        .value(":one", integer(1))
        .value(":ttl", integer(entry.expires_at(retention_days).as_second()));
    if let Some(user) = entry.user_id {
        write = write.value(":gsi1pk", string(user_partition(project, user)));
        write = write.value(":gsi1sk", string(position(entry.at, entry.id)));
    }
    Ok(write)
}

/// The id of what is counted in a minute: the same for all that are counted together.
pub(super) fn counted_id(minute: Timestamp, what: &str) -> TrailEntryId {
    let digest = digest(&SHA256, what.as_bytes());
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(digest.as_ref()).for_each(|(byte, of)| *byte = *of);
    let millis = u64::try_from(minute.as_millisecond()).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().into()
}

fn read(item: Item) -> Result<Entry, Error> {
    let count = number(&item, "n");
    let entry: Entry = entity(item)?;
    Ok(Entry { count: count.unwrap_or(entry.count), ..entry })
}

fn position_of(item: &Item) -> Option<String> {
    item.get("sk").and_then(|value: &AttributeValue| value.as_s().ok()).cloned()
}

impl Store {
    /// Entries of a day that `keep` keeps, in order of time, with the position ([`position`]) after which the next page begins.
    /// `listing.read` are read at once. A page may be short, and others come nevertheless.
    pub async fn trail_of_day(
        &self,
        project: &ProjectId,
        day: Date,
        listing: Listing<'_>,
        keep: impl Fn(&Entry) -> bool,
    ) -> Result<Page<Entry>, Error> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let mut last = listing.after.map(str::to_owned);
        for _ in 0..ROUNDS {
            let order = if listing.descending { "<" } else { ">" };
            // Positions begin with a digit, which is between these.
            let start = last.as_deref().unwrap_or(if listing.descending { "~" } else { "!" });
            let query = self
                .query()
                .key_condition_expression(format!("pk = :pk AND sk {order} :after"))
                .expression_attribute_values(":pk", string(day_partition(project, day)))
                .expression_attribute_values(":after", string(start))
                .scan_index_forward(!listing.descending)
                .consistent_read(true)
                .limit(i32::try_from(listing.read).unwrap_or(i32::MAX));
            let (items, next) = self.query_page(query).await?;
            for item in items {
                let position = position_of(&item);
                let entry = read(item)?;
                if keep(&entry) {
                    if rows.len() == listing.limit || bytes > MAX_PAGE_BYTES {
                        return Ok(Page { rows, next: last });
                    }
                    bytes += size(&entry);
                    rows.push(entry);
                }
                last = position;
            }
            if next.is_none() {
                return Ok(Page { rows, next: None });
            }
        }
        Ok(Page { rows, next: last })
    }

    /// Entries about a user that `keep` keeps, in order of time, with the position after which the next page begins.
    pub async fn trail_of_user(
        &self,
        project: &ProjectId,
        user: UserId,
        listing: Listing<'_>,
        keep: impl Fn(&Entry) -> bool,
    ) -> Result<Page<Entry>, Error> {
        let read = |_: &str, item: Item| {
            let entry = read(item)?;
            let bytes = size(&entry);
            Ok(keep(&entry).then_some((entry, bytes)))
        };
        self.sharded(vec![user_partition(project, user)], listing, read).await
    }
}
