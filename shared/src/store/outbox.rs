//! Entries of the e-mail outbox.
//!
//! | item | pk | sk | indexes |
//! |---|---|---|---|
//! | entry | `M#<P>#<id>` | `ENTRY` | gsi1 `P#<P>#OUTBOX#<yyyymm>` / created; gsi2 `DUE#<shard>` / due, only while work is due |
//! | decoy | `X#<P>#<id>` | `DECOY` | as many, in partitions that nobody reads |
//!
//! Every write of an entry is conditional on the version that was read, so that of an edit and a worker one wins and the other looks
//! again. An entry costs one unit for each KB and index to write.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Error, Item, Key, Store, Write, entity, failure, integer, number, sortable, string};
use crate::model::id::{EmailId, ProjectId};
use crate::model::outbox::OutboxEntry;

/// Over how many partitions due work is spread.
pub const DUE_SHARDS: u8 = 4;

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

fn month_partition(project: &ProjectId, time: Timestamp) -> String {
    format!("P#{project}#OUTBOX#{}", time.to_zoned(TimeZone::UTC).strftime("%Y%m"))
}

fn list_position(entry: &OutboxEntry) -> String {
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

fn due_partition(id: EmailId) -> String {
    format!("DUE#{}", id.uuid().as_bytes()[15] % DUE_SHARDS)
}

fn due_position(due: Timestamp, entry: &OutboxEntry) -> String {
    let priority = u8::from(!entry.is_high_priority);
    format!("{}#{priority}#{}", sortable(due), entry.id)
}

impl OutboxRow {
    pub fn of(item: Item) -> Result<Self, Error> {
        let project = item.get("pk").and_then(|pk| pk.as_s().ok()).and_then(|pk| ProjectId::parse(pk.split('#').nth(1)?).ok());
        let project = project.ok_or_else(|| Error::Refused("an entry of the outbox has a damaged key".to_owned()))?;
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { project, version, entry: entity(item)? })
    }
}

/// Writes a new entry.
pub fn create(project: &ProjectId, entry: &OutboxEntry) -> Result<Write, Error> {
    let mut write = Write::create(entry_key(project, entry.id), entry)?
        .attribute("version", integer(1))
        .attribute("gsi1pk", string(month_partition(project, entry.created_at)))
        .attribute("gsi1sk", string(list_position(entry)));
    if let Some(due) = entry.due_at() {
        write = write.attribute("gsi2pk", string(due_partition(entry.id))).attribute("gsi2sk", string(due_position(due, entry)));
    }
    Ok(write)
}

/// Replaces an entry that nobody changed since `version`.
pub(super) fn replacement(project: &ProjectId, entry: &OutboxEntry, version: u64) -> Result<Write, Error> {
    let (expression, due) = match entry.due_at() {
        Some(due) => ("SET d = :d, version = :new, gsi2pk = :duepk, gsi2sk = :duesk", Some(due)),
        None => ("SET d = :d, version = :new REMOVE gsi2pk, gsi2sk", None),
    };
    let write = Write::update(entry_key(project, entry.id), expression)
        .on("version = :old")
        .entity(":d", entry)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1));
    Ok(match due {
        Some(due) => write.value(":duepk", string(due_partition(entry.id))).value(":duesk", string(due_position(due, entry))),
        None => write,
    })
}

/// Writes what costs as much as a new entry and is none: no list has it, no worker finds it, and TTL takes it away.
pub fn create_decoy(project: &ProjectId, entry: &OutboxEntry, now: Timestamp) -> Result<Write, Error> {
    let pk = format!("X#{project}#{}", entry.id);
    let write = Write::create(Key::new(pk.clone(), "DECOY"), entry)?.attribute("version", integer(1));
    let write = write.attribute("gsi1pk", string(pk.clone())).attribute("gsi1sk", string(list_position(entry)));
    let write = write.attribute("gsi2pk", string(pk)).attribute("gsi2sk", string(due_position(now, entry)));
    Ok(write.expires(now))
}

impl Store {
    pub async fn outbox_entry(&self, project: &ProjectId, id: EmailId) -> Result<Option<OutboxRow>, Error> {
        self.get(&entry_key(project, id)).await?.map(OutboxRow::of).transpose()
    }

    /// Replaces an entry that nobody changed since `version`; `Conflict` otherwise.
    pub async fn replace_outbox_entry(&self, project: &ProjectId, entry: &OutboxEntry, version: u64) -> Result<(), Error> {
        self.write(replacement(project, entry, version)?).await
    }

    /// Keys of entries of one shard that are due, the earliest first. Half a unit for each 4 KB.
    pub async fn due_entries(&self, shard: u8, now: Timestamp, limit: i32) -> Result<Vec<(ProjectId, EmailId)>, Error> {
        let answer = self
            .client
            .query()
            .table_name(&self.table)
            .index_name("gsi2")
            .key_condition_expression("gsi2pk = :pk AND gsi2sk < :until")
            .expression_attribute_values(":pk", string(format!("DUE#{shard}")))
            .expression_attribute_values(":until", string(format!("{}#~", sortable(now))))
            .projection_expression("pk")
            .limit(limit)
            .send()
            .await
            .map_err(failure)?;
        let key = |item: &Item| {
            let mut parts = item.get("pk")?.as_s().ok()?.split('#').skip(1);
            Some((ProjectId::parse(parts.next()?).ok()?, EmailId::parse(parts.next()?).ok()?))
        };
        Ok(answer.items().iter().filter_map(key).collect())
    }

    /// Up to `limit` entries that `keep` keeps, newest first: from the position `start` on, down to the month of `oldest`.
    /// Gives the position of the next page.
    pub async fn outbox_entries(
        &self,
        project: &ProjectId,
        start: Option<&ListPosition>,
        oldest: Timestamp,
        limit: usize,
        now: Timestamp,
        keep: impl Fn(&OutboxEntry) -> bool,
    ) -> Result<(Vec<OutboxEntry>, Option<ListPosition>), Error> {
        let mut found: Vec<OutboxEntry> = Vec::new();
        let mut month = start.map_or(now, |start| start.created_at);
        let mut position = start.map_or_else(|| "~".to_owned(), |start| start.position.clone());
        let last_month = month_partition(project, oldest);
        loop {
            let partition = month_partition(project, month);
            found.extend(self.entries_of_month(&partition, &position, limit + 1 - found.len(), &keep).await?);
            if found.len() > limit || partition <= last_month {
                break;
            }
            month =
                month.to_zoned(TimeZone::UTC).first_of_month().and_then(|first| first.yesterday()).map_or(oldest, |day| day.timestamp());
            "~".clone_into(&mut position);
        }
        let next = found.get(limit).map(|entry| ListPosition { created_at: entry.created_at, position: list_position(entry) });
        found.truncate(limit);
        Ok((found, next))
    }

    async fn entries_of_month(
        &self,
        partition: &str,
        last: &str,
        wanted: usize,
        keep: &impl Fn(&OutboxEntry) -> bool,
    ) -> Result<Vec<OutboxEntry>, Error> {
        let mut found = Vec::new();
        let mut from = None;
        loop {
            let answer = self
                .client
                .query()
                .table_name(&self.table)
                .index_name("gsi1")
                .key_condition_expression("gsi1pk = :pk AND gsi1sk <= :last")
                .expression_attribute_values(":pk", string(partition))
                .expression_attribute_values(":last", string(last))
                .scan_index_forward(false)
                .limit(i32::try_from(wanted.clamp(10, 200)).unwrap_or(200))
                .set_exclusive_start_key(from)
                .send()
                .await
                .map_err(failure)?;
            for item in answer.items.unwrap_or_default() {
                let entry: OutboxEntry = entity(item)?;
                if keep(&entry) {
                    found.push(entry);
                }
            }
            from = answer.last_evaluated_key.filter(|key: &Item| !key.is_empty());
            if found.len() >= wanted || from.is_none() {
                found.truncate(wanted);
                return Ok(found);
            }
        }
    }
}

/// A place in the list of entries.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct ListPosition {
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    created_at: Timestamp,
    position: String,
}
