//! Entries of the e-mail outbox.
//!
//! | item | pk | sk | indexes |
//! |---|---|---|---|
//! | entry | `M#<P>#<id>` | `ENTRY` | gsi1 `P#<P>#OUTBOX#<yyyymm>` / created; gsi2 while work is due, see [`super::outbox_work`] |
//! | decoy | `X#<P>#<id>` | `DECOY` | as many, in partitions that nobody reads |
//!
//! Every write of an entry is conditional on the version that was read, so that of an edit and a worker one wins and the other looks
//! again. An entry costs one unit for each KB and index to write.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::outbox_work::{self, Waiting};
use super::{Error, Item, Key, Store, Write, entity, integer, number, sortable, string};
use crate::model::id::{EmailId, ProjectId};
use crate::model::outbox::OutboxEntry;

/// An entry with the version that a change of it is conditional on.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    pub project: ProjectId,
    pub entry: OutboxEntry,
    pub version: u64,
}

fn entry_key(project: &ProjectId, id: EmailId) -> Key {
    Key::new(format!("M#{project}#{id}"), "ENTRY")
}

pub(super) fn month_partition(project: &ProjectId, time: Timestamp) -> String {
    format!("P#{project}#OUTBOX#{}", time.to_zoned(TimeZone::UTC).strftime("%Y%m"))
}

pub(super) fn list_position(entry: &OutboxEntry) -> String {
    // Created descending, then id ascending: the index is read backwards, so the id is turned around.
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
    pub fn of(item: Item) -> Result<Self, Error> {
        let project = item.get("pk").and_then(|pk| pk.as_s().ok()).and_then(|pk| ProjectId::parse(pk.split('#').nth(1)?).ok());
        let project = project.ok_or_else(|| Error::Refused("an entry of the outbox has a damaged key".to_owned()))?;
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { project, version, entry: entity(item)? })
    }
}

/// Another version of the program wrote an entry in a way that this one does not know: it is left alone, and the others go on.
pub(super) fn unreadable(error: &Error) {
    tracing::error!(%error, cause = ?std::error::Error::source(error), "an entry of the outbox cannot be read");
}

/// Writes a new entry.
pub fn create(project: &ProjectId, entry: &OutboxEntry) -> Result<Write, Error> {
    let mut write = Write::create(entry_key(project, entry.id), entry)?
        .attribute("version", integer(1))
        .attribute("gsi1pk", string(month_partition(project, entry.created_at)))
        .attribute("gsi1sk", string(list_position(entry)));
    if let Some(Waiting { partition, position }) = outbox_work::waiting(project, entry) {
        write = write.attribute("gsi2pk", string(partition)).attribute("gsi2sk", string(position));
    }
    Ok(write)
}

/// Replaces an entry that nobody changed since `version`.
pub(super) fn replacement(project: &ProjectId, entry: &OutboxEntry, version: u64) -> Result<Write, Error> {
    let waiting = outbox_work::waiting(project, entry);
    let expression = match waiting {
        Some(_) => "SET d = :d, version = :new, gsi2pk = :workpk, gsi2sk = :worksk",
        None => "SET d = :d, version = :new REMOVE gsi2pk, gsi2sk",
    };
    let write = Write::update(entry_key(project, entry.id), expression)
        .on("version = :old")
        .entity(":d", entry)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1));
    Ok(match waiting {
        Some(Waiting { partition, position }) => write.value(":workpk", string(partition)).value(":worksk", string(position)),
        None => write,
    })
}

/// Writes what costs as much as a new entry and is none: no list has it, no worker finds it, and TTL takes it away.
pub fn create_decoy(project: &ProjectId, entry: &OutboxEntry, now: Timestamp) -> Result<Write, Error> {
    let pk = format!("X#{project}#{}", entry.id);
    let write = Write::create(Key::new(pk.clone(), "DECOY"), entry)?.attribute("version", integer(1));
    let write = write.attribute("gsi1pk", string(pk.clone())).attribute("gsi1sk", string(list_position(entry)));
    let write = write.attribute("gsi2pk", string(pk)).attribute("gsi2sk", string(outbox_work::due_position(now, entry.id)));
    Ok(write.expires(now))
}

impl Store {
    pub async fn outbox_entry(&self, project: &ProjectId, id: EmailId) -> Result<Option<OutboxRow>, Error> {
        self.get(&entry_key(project, id)).await?.map(OutboxRow::of).transpose()
    }

    /// Some entries in one round trip, at most 100; one that is not there, or cannot be read, is left out.
    pub async fn outbox_rows(&self, keys: &[(ProjectId, EmailId)]) -> Result<Vec<OutboxRow>, Error> {
        let keys: Vec<Key> = keys.iter().map(|(project, id)| entry_key(project, *id)).collect();
        let mut items = self.get_many(keys.clone()).await?;
        let readable = |item: Item| OutboxRow::of(item).inspect_err(unreadable).ok();
        Ok(keys.iter().filter_map(|key| items.take(key)).filter_map(readable).collect())
    }

    /// Replaces an entry that nobody changed since `version`; `Conflict` otherwise.
    pub async fn replace_outbox_entry(&self, project: &ProjectId, entry: &OutboxEntry, version: u64) -> Result<(), Error> {
        self.write(replacement(project, entry, version)?).await
    }
}
