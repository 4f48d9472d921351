//! Counters of the outcomes of a project's emails.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | counter | `D#<P>#<shard>` | `HOUR#<hour>` | `s07`: sent in minute 7 of the hour, `b07` bounced, `m07` marked as spam |
//!
//! A counter is incremented in the transaction that writes the new states of the entries
//! ([`crate::outbox::moves`]), so each outcome is counted once despite retries. Counting costs two
//! more write units for each counter in a transaction. It also doubles the cost of writing a single
//! entry, because the write becomes a transaction. Transactions on one item contend, so the counts
//! of a project are spread over [`COUNT_SHARDS`] items. Reading a month takes one query per shard,
//! in parallel, at half a unit for each 4 KB. A shard has at most 720 items: they cost half a unit
//! if the project sends little, and about 50 units if it sends every minute.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::outbox::delivery::{DeliveryCounts, Fate, MONTH, minute};
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, integer, string};
use crate::outbox::transition::OutboxMove;
use crate::table;
use crate::write::Write;

/// The number of items over which the counts of an hour are spread.
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

/// How many emails had each outcome, by its letter and the minute of the hour.
type Fates = BTreeMap<(char, i64), u32>;

/// The writes that count the outcomes of the emails in these transitions, one write per counter.
pub(crate) fn counts_of(moves: &[OutboxMove]) -> Vec<Write> {
    let mut items: BTreeMap<(&ProjectId, u8, i64), Fates> = BTreeMap::new();
    for OutboxMove { row, next } in moves {
        let (shard, minute) = (next.id.uuid().as_bytes()[14] % COUNT_SHARDS, minute(next.updated_at));
        for fate in next.fates_since(&row.entry) {
            let item = items.entry((&row.project, shard, minute.div_euclid(HOUR))).or_default();
            *item.entry((letter(fate), minute.rem_euclid(HOUR))).or_default() += 1;
        }
    }
    items.into_iter().map(|((project, shard, hour), fates)| count(project, shard, hour, &fates)).collect()
}

fn count(project: &ProjectId, shard: u8, hour: i64, fates: &Fates) -> Write {
    let counters: Vec<String> = fates.keys().map(|(letter, minute)| format!("{letter}{minute:02} :{letter}{minute:02}")).collect();
    let minute = hour * HOUR;
    let forgotten = (minute + MONTH + 2 * HOUR) * 60;
    let key = Key::new(partition(project, shard), position(minute));
    let write = Write::update(key, format!("SET #ttl = :ttl ADD {}", counters.join(", ")));
    let write = write.name("#ttl", table::TTL).value(":ttl", integer(forgotten));
    fates.iter().fold(write, |write, ((letter, minute), count)| write.value(&format!(":{letter}{minute:02}"), integer(count)))
}

/// The counts of an item, each with its minute since the Unix epoch.
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
