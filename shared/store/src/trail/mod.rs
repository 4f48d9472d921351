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
//! How it is listed: [`crate::trail::list`]; what shows that an entry was taken away: [`crate::trail::chain`].

pub mod chain;
pub mod check;
pub mod failures;
pub mod list;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::trail::Entry;
use ring::digest::{SHA256, digest};
use wire::id::{ProjectId, TrailEntryId, UserId};

use crate::error::Error;
use crate::item::{Item, Key, entity, integer, number, sortable, string};
use crate::table;
use crate::write::Write;

pub(crate) fn day_partition(project: &ProjectId, day: Date) -> String {
    format!("P#{project}#TRAIL#{day}")
}

pub(crate) fn user_partition(project: &ProjectId, user: UserId) -> String {
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
pub(crate) fn counted_id(minute: Timestamp, what: &str) -> TrailEntryId {
    let digest = digest(&SHA256, what.as_bytes());
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(digest.as_ref()).for_each(|(byte, of)| *byte = *of);
    let millis = u64::try_from(minute.as_millisecond()).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().into()
}

pub(crate) fn read(item: Item) -> Result<Entry, Error> {
    let count = number(&item, "n");
    let entry: Entry = entity(item)?;
    Ok(Entry { count: count.unwrap_or(entry.count), ..entry })
}
