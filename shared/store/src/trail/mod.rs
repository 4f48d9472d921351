//! The audit trail of a project. Entries are never changed, except that repeated failures and
//! rejected sign-ups increment a count.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | entry | `P#<P>#TRAIL#<yyyy-mm-dd>`, or the same with `#1` to `#3` | time, id | gsi1 `P#<P>#TRAIL#USER#<user>` / time, id, for entries about an account |
//! | failures or rejected sign-ups of a minute | the same | start of the minute, id derived from the operation, the event, and the account, IP address or sign-up rules | the same; the attribute `n` counts them |
//!
//! An entry about a change is written in the transaction of the change, which costs 2 more units
//! for each KB and, if the entry is about an account, 1 for each KB in the index. A session or code
//! that the change writes anyway may carry the entry instead ([`carried`]). Failures and rejected
//! sign-ups are counted in separate writes. A project has `SHARDS` partitions per day (UTC), so
//! that days can be read in order and the deletion of a project can find all partitions. The id of
//! an entry decides which partition it is in; a partition can take about 500 entries per second.
//!
//! [`crate::trail::list`] lists entries; [`crate::trail::chain`] links them, so that
//! [`crate::trail::check`] detects removed, changed and added entries.

pub mod carried;
pub mod chain;
pub mod check;
pub mod failures;
pub mod list;
pub mod record;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::trail::Entry;
use ring::digest::{SHA256, digest};
use wire::id::{ProjectId, TrailEntryId, UserId};

use crate::table::sharded::{shard_name, shard_of};
use crate::table::{self, Error, Item, Key, Write, entity, integer, number, sortable, string};

/// The number of partitions that the entries of a day are spread over. This number may be
/// increased, but never reduced.
const SHARDS: u8 = 4;

/// The name of a partition that contains entries of a day. In earlier versions, a day had only one
/// partition; the first partition has the same name, and so contains all entries from those
/// versions.
fn day_partition(project: &ProjectId, day: Date, shard: u8) -> String {
    shard_name(format!("P#{project}#TRAIL#{day}"), shard)
}

/// All partitions of a day.
pub(crate) fn day_partitions(project: &ProjectId, day: Date) -> impl Iterator<Item = String> {
    (0..SHARDS).map(move |shard| day_partition(project, day, shard))
}

/// The project and the day of a partition; `None` for other partitions of the table.
pub(crate) fn project_and_day(partition: &str) -> Option<(ProjectId, Date)> {
    let (project, day) = partition.strip_prefix("P#")?.split_once("#TRAIL#")?;
    let (day, shard) = day.split_once('#').map_or((day, "0"), |(day, shard)| (day, shard));
    let day = day.parse().ok()?;
    let project = ProjectId::parse(project).ok()?;
    let shard = shard.parse().ok().filter(|shard| *shard < SHARDS)?;
    (day_partition(&project, day, shard) == partition).then_some((project, day))
}

pub(crate) fn user_partition(project: &ProjectId, user: UserId) -> String {
    format!("P#{project}#TRAIL#USER#{user}")
}

/// The day (UTC) of a time.
pub fn day(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}

/// The position of an entry within its day and among its user's entries; later entries have greater
/// positions. The cursors of lists contain such positions.
pub fn position(at: Timestamp, id: TrailEntryId) -> String {
    format!("{}#{id}", sortable(at))
}

fn key(project: &ProjectId, entry: &Entry) -> Key {
    let shard = shard_of(entry.id.uuid(), SHARDS);
    Key::new(day_partition(project, day(entry.at), shard), position(entry.at, entry.id))
}

/// Adds an entry that expires after this many days.
pub fn put(project: &ProjectId, entry: &Entry, retention_days: u16) -> Result<Write, Error> {
    let mut write = Write::put(key(project, entry), entry)?.expires(entry.expires_at(retention_days));
    if let Some(user) = entry.user_id {
        write = write.attribute("gsi1pk", string(user_partition(project, user)));
        write = write.attribute("gsi1sk", string(position(entry.at, entry.id)));
    }
    Ok(write)
}

/// Adds an entry, or increments the count of the existing one.
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

/// The id of the entry that counts a minute's events.
pub(crate) fn counted_id(minute: Timestamp, what: &str) -> TrailEntryId {
    let digest = digest(&SHA256, what.as_bytes());
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(digest.as_ref()).for_each(|(byte, of)| *byte = *of);
    let millis = u64::try_from(minute.as_millisecond()).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().into()
}

/// The entry in an item; fails with [`Error::Refused`] if the entry does not fit its place in the
/// table.
pub(crate) fn read(item: Item) -> Result<Entry, Error> {
    let (entry, fits) = parse(item)?;
    if fits {
        Ok(entry)
    } else {
        Err(Error::Refused(format!("the trail entry {} does not fit its place in the table: run `gateway audit verify`", entry.id)))
    }
}

/// The entry in an item, and whether the entry fits its place in the table: it expires, and its
/// time and id match those in the keys. The keys determine how entries are sorted, filtered and
/// linked.
fn parse(item: Item) -> Result<(Entry, bool), Error> {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok());
    let day_of_key = text("pk").and_then(|pk| project_and_day(pk)).map(|(_, day)| day);
    let position_of_key = text("sk").cloned();
    let of_index = text("gsi1pk").cloned().zip(text("gsi1sk").cloned());
    let (count, expires) = (number(&item, "n"), number::<i64>(&item, table::TTL).is_some());
    let entry: Entry = entity(item)?;
    let position = position(entry.at, entry.id);
    let is_of_user = |(user, of_user): (String, String)| {
        of_user == position && user.rsplit_once('#').map(|(_, user)| user.to_owned()) == entry.user_id.map(|user| user.to_string())
    };
    let fits = day_of_key == Some(day(entry.at)) && position_of_key.as_ref() == Some(&position);
    let fits = fits && of_index.is_none_or(is_of_user) && expires;
    Ok((Entry { count: count.unwrap_or(entry.count), ..entry }, fits))
}
