//! Work for the workers. Entries and broadcasts have keys in `gsi2` only while they need work.
//!
//! | gsi2pk | gsi2sk | work |
//! |---|---|---|
//! | `DUE#<priority>#<shard>` | due time, id | entries to prepare, resume or abandon; broadcasts to expand ([`crate::outbox::broadcast`]) |
//! | `QUEUE#<shard>` | project, `#` or `$`, priority, time | entries ready to be sent, grouped by project in sending order |
//!
//! High-priority entries have separate partitions, so that a code that someone is waiting for is
//! not stuck behind ten thousand newsletters. Queues are separate from due work, so that a project
//! without quota does not delay other projects' emails. One query finds the first emails of a
//! project, and continuing after the project's keys finds the next project. The service's own
//! emails to unverified addresses have a separate queue (`$`), which sorts after the project's
//! other emails (`#`) and before the next project. The service's own emails, however many there
//! are, therefore do not delay the project's other emails. A query costs half a unit, because the
//! index contains only keys.

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::outbox::quota::Audience;
use model::outbox::status::Status;
use serde_json::Value;
use wire::id::{BroadcastId, EmailId, ProjectId};

use crate::table::sharded::shard_of;
use crate::table::{Error, Item, Store, sortable, string};

/// The number of partitions for the due work of a priority, and for the queues of all projects.
const SHARDS: u8 = 4;
/// The number of partitions for due work.
const DUE_PARTITIONS: usize = 2 * SHARDS as usize;
/// The maximum number of additional keys read from a partition to find the work of other projects.
const FURTHER: i32 = 1000;

/// The index position of an item that needs work.
pub(crate) struct WorkPosition {
    pub(crate) partition: String,
    pub(crate) position: String,
}

/// Due work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueWork {
    /// An entry of the outbox.
    Entry(ProjectId, EmailId),
    /// A broadcast to expand.
    Broadcast(ProjectId, BroadcastId),
}

impl DueWork {
    /// The project.
    pub fn project(&self) -> &ProjectId {
        match self {
            Self::Entry(project, _) | Self::Broadcast(project, _) => project,
        }
    }
}

/// How far each partition has been searched for projects beyond its first items. The next search
/// continues from there, and starts over after the end of the partition.
#[derive(Debug, Default)]
pub struct SearchProgress([Option<String>; DUE_PARTITIONS]);

/// The first emails in one of a project's queues, in sending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// The project.
    pub project: ProjectId,
    /// The audience of the queue.
    pub to: Audience,
    /// The entries, in sending order.
    pub entries: Vec<EmailId>,
}

/// The character that follows the project in an email's sort key.
fn mark(audience: Audience) -> char {
    match audience {
        Audience::Known => '#',
        Audience::Strangers => '$',
    }
}

/// A position in the queues to continue from.
#[derive(Debug, Clone)]
pub struct QueuePosition {
    shard: u8,
    after: String,
}

/// The index position of this entry, if the entry needs work.
pub(crate) fn waiting(project: &ProjectId, entry: &OutboxEntry) -> Option<WorkPosition> {
    let due = entry.due_at()?;
    let queued = entry.status() == Status::Queued;
    Some(if queued { in_queue(project, entry) } else { due_work_position(entry.is_high_priority, entry.id.uuid(), due) })
}

/// The index position of an item of due work, by its due time.
pub(crate) fn due_work_position(is_urgent: bool, id: uuid::Uuid, due: Timestamp) -> WorkPosition {
    let shard = shard_of(id, SHARDS);
    WorkPosition { partition: due_partition(is_urgent, shard), position: due_position(due, id) }
}

/// The partitions for due work; the urgent ones come first.
fn due_partitions() -> impl Iterator<Item = String> {
    [true, false].into_iter().flat_map(|urgent| (0..SHARDS).map(move |shard| due_partition(urgent, shard)))
}

fn due_partition(is_urgent: bool, shard: u8) -> String {
    let priority = if is_urgent { "URGENT" } else { "USUAL" };
    format!("DUE#{priority}#{shard}")
}

pub(crate) fn due_position(due: Timestamp, id: impl std::fmt::Display) -> String {
    format!("{}#{id}", sortable(due))
}

fn in_queue(project: &ProjectId, entry: &OutboxEntry) -> WorkPosition {
    let rank = u8::MAX - entry.priority();
    let (scheduled, created) = (sortable(entry.scheduled_at), sortable(entry.created_at));
    let mark = mark(Audience::of(entry));
    WorkPosition { partition: queue(project), position: format!("{project}{mark}{rank:03}#{scheduled}#{created}#{}", entry.id) }
}

fn queue(project: &ProjectId) -> String {
    let sum = project.as_str().bytes().fold(0_u8, u8::wrapping_add);
    format!("QUEUE#{}", sum % SHARDS)
}

/// Whether a batch of the table's stream contains emails or broadcasts that are due by `until`, or
/// emails ready to be sent.
pub fn is_in(event: &Value, until: Timestamp) -> bool {
    let until = format!("{}#~", sortable(until));
    event["Records"].as_array().into_iter().flatten().any(|record| {
        let text = |name| record["dynamodb"]["NewImage"][name]["S"].as_str().unwrap_or_default();
        let partition = text("gsi2pk");
        partition.starts_with("QUEUE#") || partition.starts_with("DUE#") && text("gsi2sk") <= until.as_str()
    })
}

impl Store {
    /// Due work, with urgent work first; at most `limit` items from each partition.
    pub async fn due_work(&self, now: Timestamp, limit: i32) -> Result<Vec<DueWork>, Error> {
        let until = format!("{}#~", sortable(now));
        let shards =
            try_join_all(due_partitions().map(|partition| self.keys_between(partition, "0".to_owned(), until.clone(), limit))).await?;
        Ok(shards.iter().flatten().filter_map(due).collect())
    }

    /// Like [`Self::due_work`], but skips the projects in `busy`. Also adds up to `limit` more
    /// items from each partition, from projects that are not among the partition's first items. A
    /// project with a lot of due work therefore does not hide the work of other projects. To find
    /// the additional items, a call reads at most `limit` more keys of a partition, or a thousand
    /// if some of the first items belong to busy projects. The next call continues after the
    /// additional keys.
    pub async fn due_beside(
        &self,
        busy: &[ProjectId],
        now: Timestamp,
        limit: i32,
        searched: &mut SearchProgress,
    ) -> Result<Vec<DueWork>, Error> {
        let until = format!("{}#~", sortable(now));
        let found =
            due_partitions().zip(&mut searched.0).map(|(partition, searched)| self.due_in(partition, busy, &until, limit, searched));
        Ok(try_join_all(found).await?.into_iter().flatten().collect())
    }

    async fn due_in(
        &self,
        partition: String,
        busy: &[ProjectId],
        until: &str,
        limit: i32,
        searched: &mut Option<String>,
    ) -> Result<Vec<DueWork>, Error> {
        let first = self.keys_between(partition.clone(), "0".to_owned(), until.to_owned(), limit).await?;
        let from = searched.take();
        let behind = first.last().and_then(position).filter(|_| is_full(&first, limit));
        let mut found: Vec<DueWork> = first.iter().filter_map(due).collect();
        let known: Vec<ProjectId> = found.iter().map(|due| due.project().clone()).collect();
        found.retain(|due| !busy.contains(due.project()));
        let Some(behind) = behind else { return Ok(found) };
        let further = if found.len() < known.len() { FURTHER } else { limit };
        let from = from.filter(|from| from.as_str() > behind).unwrap_or_else(|| behind.to_owned());
        let next = self.keys_between(partition, format!("{from}!"), until.to_owned(), further).await?;
        let (mut left, mut is_end) = (limit, !is_full(&next, further));
        for item in &next {
            if left == 0 {
                is_end = false;
                break;
            }
            *searched = position(item).map(str::to_owned);
            if let Some(due) = due(item).filter(|due| !busy.contains(due.project()) && !known.contains(due.project())) {
                found.push(due);
                left -= 1;
            }
        }
        if is_end {
            *searched = None;
        }
        Ok(found)
    }

    /// All entries that are due by `until`, including entries in progress.
    pub async fn waiting_entries(&self, until: Timestamp) -> Result<Vec<(ProjectId, EmailId)>, Error> {
        let until = format!("{}#~", sortable(until));
        let all = due_partitions().map(|partition| self.query_all(self.keys_of(partition, "0".to_owned(), until.clone())));
        Ok(try_join_all(all).await?.iter().flatten().filter_map(entry_of).collect())
    }

    /// The time when the oldest work due by `now` became due; `None` if nothing is due.
    pub async fn oldest_due(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let until = format!("{}#~", sortable(now));
        let firsts = try_join_all(due_partitions().map(|partition| self.keys_between(partition, "0".to_owned(), until.clone(), 1))).await?;
        let times = firsts.iter().flatten().filter_map(|item| position(item)?.split('#').next()?.parse().ok());
        Ok(times.filter_map(|millis| Timestamp::from_millisecond(millis).ok()).min())
    }

    /// At most `limit` queued emails of one partition, grouped into queues, from the beginning or
    /// from a position. Also returns the position to continue from, after these queues or in the
    /// next partition; `None` after the last partition.
    pub async fn queues(&self, from: Option<QueuePosition>, limit: i32) -> Result<(Vec<Queue>, Option<QueuePosition>), Error> {
        let QueuePosition { shard, after } = from.unwrap_or(QueuePosition { shard: 0, after: "!".to_owned() });
        let keys = self.keys_between(format!("QUEUE#{shard}"), after, "~".to_owned(), limit).await?;
        let mut queues: Vec<Queue> = Vec::new();
        for (project, to, id) in keys.iter().filter_map(queued) {
            match queues.last_mut().filter(|last| last.project == project && last.to == to) {
                Some(last) => last.entries.push(id),
                None => queues.push(Queue { project, to, entries: vec![id] }),
            }
        }
        // A full result means that the partition may contain more queues.
        let behind = queues.last().filter(|_| is_full(&keys, limit));
        let next = match behind {
            Some(last) => Some(QueuePosition { shard, after: format!("{}{}~", last.project, mark(last.to)) }),
            None => (shard + 1 < SHARDS).then(|| QueuePosition { shard: shard + 1, after: "!".to_owned() }),
        };
        Ok((queues, next))
    }

    pub(crate) async fn keys_between(&self, partition: String, first: String, last: String, limit: i32) -> Result<Vec<Item>, Error> {
        Ok(self.query_page(self.keys_of(partition, first, last).limit(limit)).await?.0)
    }

    fn keys_of(&self, partition: String, first: String, last: String) -> QueryInputBuilder {
        self.query()
            .index_name("gsi2")
            .key_condition_expression("gsi2pk = :pk AND gsi2sk BETWEEN :first AND :last")
            .expression_attribute_values(":pk", string(partition))
            .expression_attribute_values(":first", string(first))
            .expression_attribute_values(":last", string(last))
            .projection_expression("pk, gsi2sk")
    }
}

/// Whether a query returned as many keys as its limit, so that the partition may contain more.
fn is_full(keys: &[Item], limit: i32) -> bool {
    i32::try_from(keys.len()).is_ok_and(|count| count >= limit)
}

fn position(item: &Item) -> Option<&str> {
    item.get("gsi2sk")?.as_s().ok().map(String::as_str)
}

/// The work identified by an item's key.
fn due(item: &Item) -> Option<DueWork> {
    let mut parts = item.get("pk")?.as_s().ok()?.split('#');
    let (kind, project, id) = (parts.next()?, ProjectId::parse(parts.next()?).ok()?, parts.next()?);
    match kind {
        "M" => Some(DueWork::Entry(project, EmailId::parse(id).ok()?)),
        "B" => Some(DueWork::Broadcast(project, BroadcastId::parse(id).ok()?)),
        _ => None,
    }
}

/// The queued email identified by an item's key.
fn queued(item: &Item) -> Option<(ProjectId, Audience, EmailId)> {
    let (project, id) = entry_of(item)?;
    let position = position(item)?.strip_prefix(project.as_str())?;
    let to = [Audience::Known, Audience::Strangers].into_iter().find(|to| position.starts_with(mark(*to)))?;
    Some((project, to, id))
}

fn entry_of(item: &Item) -> Option<(ProjectId, EmailId)> {
    match due(item)? {
        DueWork::Entry(project, id) => Some((project, id)),
        DueWork::Broadcast(..) => None,
    }
}
