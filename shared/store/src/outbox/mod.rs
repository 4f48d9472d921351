//! Entries of the outbox.
//!
//! | item | pk | sk | indexes |
//! |---|---|---|---|
//! | entry | `M#<P>#<id>` | `ENTRY` | gsi1 `P#<P>#OUTBOX#<yyyymm>`, or the same with `#1` to `#3`, / created; gsi2 while it needs work, see [`crate::outbox::work`] |
//! | bodies of a rendered email | the same | `BODY` | none; expires by TTL, see [`crate::outbox::bodies`] |
//! | decoy | `X#<P>#<id>` | `DECOY` | as for an entry, but in partitions that nobody reads |
//!
//! A change succeeds only if the version of the entry has not changed. If an edit and a worker
//! collide, one of them succeeds, and the other one reads the entry again. Writing an entry costs
//! one unit for each KB in the table, the same again in `gsi1`, and up to two units in `gsi2`,
//! which contains only keys. Entries are therefore small: the bodies of the email are stored
//! separately, and default values are left out ([`OutboxEntry`]).

pub mod bodies;
pub mod boost;
pub mod broadcast;
pub(crate) mod change;
pub mod delivery;
pub mod list;
pub mod moves;
pub mod quota;
pub mod transition;
pub mod turn;
pub mod work;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::outbox::OutboxEntry;
use wire::id::{EmailId, ProjectId};

use crate::outbox::work::WorkPosition;
use crate::table::sharded::{shard_name, shard_of};
use crate::table::{Error, Item, Key, Store, Write, entity, integer, number, sortable, string};

/// An entry with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    /// The project.
    pub project: ProjectId,
    /// The entry.
    pub entry: OutboxEntry,
    /// The version that was read.
    pub version: u64,
}

/// The key of an entry.
pub fn entry_key(project: &ProjectId, id: EmailId) -> Key {
    Key::new(format!("M#{project}#{id}"), "ENTRY")
}

/// The number of partitions that the list of a month is spread over. This number may be increased,
/// but never reduced.
const SHARDS: u8 = 4;

/// The month of a time (UTC), as in the names of partitions.
pub(crate) fn month(time: Timestamp) -> String {
    time.to_zoned(TimeZone::UTC).strftime("%Y%m").to_string()
}

/// The name of a partition that lists entries of a month. In earlier versions, a month had only one
/// partition; the first partition has the same name, and so contains all entries from those
/// versions.
fn month_partition(project: &ProjectId, time: Timestamp, shard: u8) -> String {
    shard_name(format!("P#{project}#OUTBOX#{}", month(time)), shard)
}

/// All partitions of a month.
pub(crate) fn month_partitions(project: &ProjectId, time: Timestamp) -> impl Iterator<Item = String> {
    (0..SHARDS).map(move |shard| month_partition(project, time, shard))
}

pub(crate) fn list_position(entry: &OutboxEntry) -> String {
    // The list is sorted by creation time, newest first, and then by ascending id. The index is
    // read backwards, so the id is inverted.
    let id: String = entry
        .id
        .uuid()
        .as_simple()
        .to_string()
        .chars()
        .map(|digit| char::from_digit(15 - digit.to_digit(16).unwrap_or(0), 16).unwrap_or('0'))
        .collect();
    format!("{}#{id}", sortable(entry.created_at))
}

impl OutboxRow {
    /// Reads an entry from the item that contains it.
    pub fn of(item: Item) -> Result<Self, Error> {
        let of_key = item.get("pk").and_then(|pk| pk.as_s().ok()).and_then(|pk| {
            let mut parts = pk.split('#').skip(1);
            Some((ProjectId::parse(parts.next()?).ok()?, EmailId::parse(parts.next()?).ok()?))
        });
        let (project, id) = of_key.ok_or_else(|| Error::Refused(format!("an outbox entry has the malformed key {:?}", item.get("pk"))))?;
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { project, version, entry: OutboxEntry { id, ..entity(item)? } })
    }
}

/// Logs an entry of unknown format, for example from another version of the program. Callers skip
/// such an entry, so that it does not block others.
pub(crate) fn unreadable(key: Option<&Key>, error: &Error) {
    let key = key.map(|key| key.pk.as_str());
    tracing::error!(%error, cause = ?std::error::Error::source(error), key, "an outbox entry cannot be parsed");
}

/// Writes a new entry.
pub fn create(project: &ProjectId, entry: &OutboxEntry) -> Result<Write, Error> {
    let shard = shard_of(entry.id.uuid(), SHARDS);
    let mut write = Write::create(entry_key(project, entry.id), entry)?
        .attribute("version", integer(1))
        .attribute("gsi1pk", string(month_partition(project, entry.created_at, shard)))
        .attribute("gsi1sk", string(list_position(entry)));
    if let Some(WorkPosition { partition, position }) = work::waiting(project, entry) {
        write = write.attribute("gsi2pk", string(partition)).attribute("gsi2sk", string(position));
    }
    Ok(write)
}

/// Writes an item that costs as much as a new entry but has no effect: the item is not in any list,
/// no worker finds it, and the TTL deletes it.
pub fn create_decoy(project: &ProjectId, entry: &OutboxEntry, now: Timestamp) -> Result<Write, Error> {
    let pk = format!("X#{project}#{}", entry.id);
    let write = Write::create(Key::new(pk.clone(), "DECOY"), entry)?.attribute("version", integer(1));
    let write = write.attribute("gsi1pk", string(pk.clone())).attribute("gsi1sk", string(list_position(entry)));
    let write = write.attribute("gsi2pk", string(pk)).attribute("gsi2sk", string(work::due_position(now, entry.id)));
    Ok(write.expires(now))
}

impl Store {
    /// The entry with this id, without separately stored bodies.
    pub async fn outbox_entry(&self, project: &ProjectId, id: EmailId) -> Result<Option<OutboxRow>, Error> {
        self.get(&entry_key(project, id)).await?.map(OutboxRow::of).transpose()
    }

    /// Up to 100 entries in one round trip; leaves out entries that are missing or cannot be
    /// parsed.
    pub async fn outbox_rows(&self, keys: &[(ProjectId, EmailId)]) -> Result<Vec<OutboxRow>, Error> {
        let keys: Vec<Key> = keys.iter().map(|(project, id)| entry_key(project, *id)).collect();
        let mut items = self.get_many(keys.clone()).await?;
        let readable = |item: Item| {
            let key = Key::of(&item);
            OutboxRow::of(item).inspect_err(|error| unreadable(key.as_ref(), error)).ok()
        };
        Ok(keys.iter().filter_map(|key| items.take(key)).filter_map(readable).collect())
    }
}
