//! The amounts that audit trail entries add to a project's figures.

use std::collections::BTreeMap;

use model::metrics::activity::{Day, day, midnight};
use model::metrics::tally::{ANONYMOUS, ANONYMOUS_COUNTRY, COUNTRY, METHOD, Tally, USERS};
use model::trail::{Entry, Event};
use wire::id::ProjectId;

use crate::metrics::{
    ALL, COUNTRIES, KEPT_DAYS, KEPT_HOURS, METHODS, action_name, day_position, hour, hour_begins, hour_position, key, later, rule_position,
};
use crate::table::{self, Key, Write, integer};

/// The total amounts that several entries add to the figures.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    totals: Tally,
    /// Whether an entry changes a total, even if another entry cancels the change: a recount may
    /// have read the accounts between the two entries.
    is_change: bool,
    items: BTreeMap<String, Sums>,
}

/// The amounts to add to the attributes of an item, and the time when the item expires, if it does,
/// in seconds since the Unix epoch.
#[derive(Debug, Clone, Default)]
struct Sums {
    expires_at: Option<i64>,
    by: BTreeMap<String, i64>,
}

impl Sums {
    fn add(&mut self, name: impl Into<String>, by: i64) {
        *self.by.entry(name.into()).or_default() += by;
    }
}

impl Counters {
    /// Adds the amounts of an entry. `times` is how often the entry's event has happened since the
    /// entry was last added; this number affects only the matches of sign-up rules.
    pub fn add(&mut self, entry: &Entry, times: u64) {
        self.totals.merge(&entry.tally, 1);
        self.is_change |= !entry.tally.is_empty();
        let [users, anonymous] = [USERS, ANONYMOUS].map(|name| entry.tally.get(name));
        if users > 0 || anonymous > 0 {
            let sums = self.sums_of_day(day(entry.at));
            for (name, by) in [(USERS, users), (ANONYMOUS, anonymous)].into_iter().filter(|(_, by)| *by > 0) {
                sums.add(name, by);
            }
        }
        // A request that precedes the sign-up may already evaluate the sign-up rules. Unless the
        // rules reject that request, this evaluation does not count, because the sign-up evaluates
        // the rules again.
        if users > 0 || entry.events.contains(&Event::SignUpRejected) {
            self.add_rules(entry, i64::try_from(times).unwrap_or(i64::MAX));
        }
    }

    fn add_rules(&mut self, entry: &Entry, times: i64) {
        let hour = hour(entry.at);
        for (rule, action) in &entry.rules {
            let action = action_name(*action);
            self.items.entry(rule_position(rule)).or_default().add(action, times);
            let of_hour = self.items.entry(hour_position(hour)).or_default();
            of_hour.expires_at = Some(later(hour_begins(hour), KEPT_HOURS));
            of_hour.add(format!("{action}.{rule}"), times);
        }
    }

    fn sums_of_day(&mut self, day: Day) -> &mut Sums {
        let sums = self.items.entry(day_position(day)).or_default();
        sums.expires_at = Some(later(midnight(day), KEPT_DAYS * 24));
        sums
    }

    /// The maximum number of items to write; up to three of them contain totals.
    pub fn len(&self) -> usize {
        self.items.len() + if self.is_change { 3 } else { 0 }
    }

    /// Whether there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The writes that add the sums to their items.
    pub(crate) fn writes(&self, project: &ProjectId) -> Vec<Write> {
        let mut items = self.items.clone();
        for (name, by) in self.totals.iter() {
            items.entry(item_of(name).to_owned()).or_default().add(name, by);
        }
        if self.is_change {
            items.entry(ALL.to_owned()).or_default().add("changes", 1);
        }
        items.into_iter().map(|(sk, sums)| sums.write(key(project, sk))).collect()
    }
}

/// The sort key of the item that contains a total.
pub(super) fn item_of(total: &str) -> &'static str {
    match total {
        name if name.starts_with(COUNTRY) || name.starts_with(ANONYMOUS_COUNTRY) => COUNTRIES,
        name if name.starts_with(METHOD) => METHODS,
        _ => ALL,
    }
}

impl Sums {
    fn write(self, key: Key) -> Write {
        let adds: Vec<String> = (0..self.by.len()).map(|number| format!("#n{number} :n{number}")).collect();
        let set = self.expires_at.map(|_| "SET #ttl = :ttl ").unwrap_or_default();
        let mut write = Write::update(key, format!("{set}ADD {}", adds.join(", ")));
        if let Some(seconds) = self.expires_at {
            write = write.name("#ttl", table::TTL).value(":ttl", integer(seconds));
        }
        for (number, (name, by)) in self.by.into_iter().enumerate() {
            write = write.name(&format!("#n{number}"), &name).value(&format!(":n{number}"), integer(by));
        }
        write
    }
}
