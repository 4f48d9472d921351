//! Counters of what became of a project's mails.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | counter | `D#<P>#<shard>` | `HOUR#<hour>` | `s07`: sent in minute 7 of the hour, `b07` bounced, `m07` marked as spam |
//!
//! A counter is raised in the transaction that moves the entry, so each fate of a mail is counted once, whatever is tried again. That is
//! two write units more for each mail, and makes that one write of the entry twice as dear. Transactions on one item get in each other's way, so a project's are spread over
//! [`COUNT_SHARDS`] items; reading a month is a query of each at once: 720 items at most, half a unit for each 4 KB, so half a unit for
//! a project that sends little and some 50 for each shard of one that sends every minute.

use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};

use super::outbox::{OutboxRow, replacement};
use super::{Error, Item, Key, Store, Write, failure, integer, string, table};
use crate::model::delivery::{DeliveryCounts, Fate, MONTH, minute};
use crate::model::id::{EmailId, ProjectId};
use crate::model::outbox::OutboxEntry;
use crate::model::session::after;

/// Over how many items the mails of an hour are spread.
pub const COUNT_SHARDS: u8 = 4;
/// Minutes of an item.
const HOUR: i64 = 60;

pub(super) fn partition(project: &ProjectId, shard: u8) -> String {
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

/// Counts what became of a mail, in one item.
fn count(project: &ProjectId, id: EmailId, fates: &[Fate], at: Timestamp) -> Write {
    let (shard, minute) = (id.uuid().as_bytes()[14] % COUNT_SHARDS, minute(at));
    let counters: Vec<String> = fates.iter().map(|fate| format!("{}{:02} :one", letter(*fate), minute.rem_euclid(HOUR))).collect();
    let forgotten = after(at, SignedDuration::from_mins(MONTH + HOUR));
    let key = Key::new(partition(project, shard), position(minute));
    Write::update(key, format!("SET #ttl = :ttl ADD {}", counters.join(", ")))
        .name("#ttl", table::TTL)
        .value(":ttl", integer(forgotten.as_second()))
        .value(":one", integer(1))
}

/// The counts of an item, by their minutes.
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
    /// Replaces an entry, and counts what became of its mail by that; `Conflict` when somebody changed it since.
    pub async fn settle_outbox_entry(&self, row: &OutboxRow, entry: &OutboxEntry) -> Result<(), Error> {
        let replacement = replacement(&row.project, entry, row.version)?;
        let fates: Vec<Fate> = entry.fates_since(&row.entry).collect();
        if fates.is_empty() {
            return self.write(replacement).await;
        }
        self.transact([replacement, count(&row.project, entry.id, &fates, entry.updated_at)]).await
    }

    /// What became of a project's mails in the last month, by the minute.
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
        let pages = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk AND sk >= :first")
            .expression_attribute_values(":pk", string(partition(project, shard)))
            .expression_attribute_values(":first", string(position(minute(now) - MONTH)))
            .into_paginator()
            .items()
            .send();
        pages.collect::<Result<_, _>>().await.map_err(failure)
    }
}
