//! Counts the outcomes of a project's emails.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | counter | `D#<P>#<shard>` | `HOUR#<hour>` | `s07`: sent in minute 7 of the hour, `b07` bounced, `m07` marked as spam |
//!
//! Counters are incremented in the transaction that writes the new states of the entries
//! ([`crate::outbox::moves`]), so each outcome is counted once even if a write is retried. Each
//! counter adds two write units to a transaction. Counting also turns the write of a single entry
//! into a transaction, which doubles the cost. Transactions on the same item contend, so a
//! project's counts are spread over [`COUNT_SHARDS`] items. Reading a month takes one query per
//! shard, in parallel, at half a unit for each 4 KB. A shard has at most 721 items. Reading a shard
//! costs half a unit if the project sends few emails, and about 50 units if the project sends
//! emails every minute.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::outbox::delivery::{DeliveryCounts, Fate, MONTH, minute};
use wire::id::ProjectId;

use crate::outbox::transition::OutboxMove;
use crate::table::{self, Error, Item, Key, Store, Write, integer, string};

/// The number of items that share the counts of an hour.
pub const COUNT_SHARDS: u8 = 4;
/// Minutes per item.
const HOUR: i64 = 60;

pub(crate) fn partition(project: &ProjectId, shard: u8) -> String {
    format!("D#{project}#{shard}")
}

fn position(minute: i64) -> String {
    format!("HOUR#{:09}", minute.div_euclid(HOUR))
}

fn letter(fate: Fate) -> char {
    match fate {
        Fate::Sent => 's',
        Fate::Bounced => 'b',
        Fate::MarkedAsSpam => 'm',
    }
}

/// The outcomes to add to the counter of an hour.
struct Counter<'a> {
    key: (&'a ProjectId, u8, i64),
    /// The letter of the outcome, the minute of the hour, and the number of emails.
    counts: Vec<(char, i64, u32)>,
}

/// The writes that count the outcomes of these transitions, one write per counter.
///
/// The emails belong to one transaction, so there are few counters and a linear search is
/// sufficient: maps would make the function that sends emails 2.8 KB larger (zipped;
/// `tests/lambda/run build`).
pub(crate) fn counts_of(moves: &[OutboxMove]) -> Vec<Write> {
    let mut counters: Vec<Counter<'_>> = Vec::new();
    for OutboxMove { row, next, .. } in moves {
        let minute = minute(next.updated_at);
        let key = (&row.project, next.id.uuid().as_bytes()[14] % COUNT_SHARDS, minute.div_euclid(HOUR));
        for fate in next.fates_since(&row.entry) {
            let known = counters.iter().position(|counter| counter.key == key);
            let at = known.unwrap_or(counters.len());
            if known.is_none() {
                counters.push(Counter { key, counts: Vec::new() });
            }
            let (letter, minute) = (letter(fate), minute.rem_euclid(HOUR));
            let counts = &mut counters[at].counts;
            match counts.iter_mut().find(|known| (known.0, known.1) == (letter, minute)) {
                Some(known) => known.2 += 1,
                None => counts.push((letter, minute, 1)),
            }
        }
    }
    counters.iter().map(count).collect()
}

fn count(counter: &Counter<'_>) -> Write {
    let (project, shard, hour) = counter.key;
    let first = hour * HOUR;
    let forgotten = (first + MONTH + 2 * HOUR) * 60;
    let mut update = "SET #ttl = :ttl ADD".to_owned();
    for (number, (letter, minute, _)) in counter.counts.iter().enumerate() {
        let separator = if number == 0 { "" } else { "," };
        update = format!("{update}{separator} {letter}{minute:02} :{letter}{minute:02}");
    }
    let write = Write::update(Key::new(partition(project, shard), position(first)), update);
    let write = write.name("#ttl", table::TTL).value(":ttl", integer(forgotten));
    counter.counts.iter().fold(write, |write, (letter, minute, count)| write.value(&format!(":{letter}{minute:02}"), integer(count)))
}

/// The counts in an item, each with its minute since the Unix epoch.
fn counts(item: &Item) -> impl Iterator<Item = (i64, Fate, u64)> + '_ {
    let hour: Option<i64> = item.get("sk").and_then(|sk| sk.as_s().ok()?.strip_prefix("HOUR#")?.parse().ok());
    item.iter().filter_map(move |(name, value)| {
        let (letter, minute) = name.split_at_checked(1)?;
        let fate = match letter {
            "s" => Fate::Sent,
            "b" => Fate::Bounced,
            "m" => Fate::MarkedAsSpam,
            _ => return None,
        };
        Some((hour? * HOUR + minute.parse::<i64>().ok()?, fate, value.as_n().ok()?.parse().ok()?))
    })
}

impl Store {
    /// The outcomes of a project's emails in the last month, by minute since the Unix epoch.
    pub async fn deliveries(&self, project: &ProjectId, now: Timestamp) -> Result<BTreeMap<i64, DeliveryCounts>, Error> {
        let shards = (0..COUNT_SHARDS).map(|shard| self.deliveries_of_shard(project, shard, now));
        let mut by_minute: BTreeMap<i64, DeliveryCounts> = BTreeMap::new();
        for item in try_join_all(shards).await?.iter().flatten() {
            for (minute, fate, count) in counts(item) {
                by_minute.entry(minute).or_default().add(fate, count);
            }
        }
        Ok(by_minute)
    }

    async fn deliveries_of_shard(&self, project: &ProjectId, shard: u8, now: Timestamp) -> Result<Vec<Item>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND sk >= :first")
            .expression_attribute_values(":pk", string(partition(project, shard)))
            .expression_attribute_values(":first", string(position(minute(now) - MONTH)));
        self.query_all(query).await
    }
}
