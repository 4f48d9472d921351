//! Recounts a project's totals from its users and teams, while requests change them.
//!
//! All trail entries are linked before the result is written. The write fails if a link has changed
//! a total since the accounts were read; the changed accounts are then read again. Every change is
//! therefore either in the accounts that were read, or in an entry that a later link adds to the
//! result.

use std::collections::HashMap;

use jiff::Timestamp;
use model::metrics::tally::{TEAMS, Tally};
use wire::id::{ProjectId, UserId};

use crate::metrics::counters::item_of;
use crate::metrics::{ALL, COUNTRIES, LISTS_ACTIVITY, LISTS_WORDS, METHODS, Totals, key};
use crate::table::{Error, Store, Write, integer};

impl Store {
    /// Replaces the totals, and records that all users are in the list by activity and in the index
    /// of words. The caller must ensure that all users are in both. Fails with [`Error::Conflict`]
    /// if a link has changed the totals since `before` was read.
    pub async fn set_totals(
        &self,
        project: &ProjectId,
        before: &Totals,
        users: &HashMap<UserId, Tally>,
        teams: i64,
        now: Timestamp,
    ) -> Result<Tally, Error> {
        let mut sum: Tally = [(TEAMS.to_owned(), teams)].into_iter().collect();
        for tally in users.values() {
            sum.merge(tally, 1);
        }
        let mut writes: HashMap<&str, Write> =
            [ALL, COUNTRIES, METHODS].into_iter().map(|sk| Ok((sk, Write::put(key(project, sk), &())?))).collect::<Result<_, Error>>()?;
        for (name, count) in sum.iter() {
            let item = item_of(name);
            if let Some(write) = writes.remove(item) {
                writes.insert(item, write.attribute(name, integer(count)));
            }
        }
        if let Some(all) = writes.remove(ALL) {
            let unchanged = if before.changes == 0 { "attribute_not_exists(changes)" } else { "changes = :changes" };
            let all = all.attribute("counted_at", integer(now.as_millisecond())).attribute(LISTS_ACTIVITY, integer(1));
            let all = all.attribute(LISTS_WORDS, integer(1)).on(unchanged);
            let all = match before.changes {
                0 => all,
                changes => all.attribute("changes", integer(changes)).value(":changes", integer(changes)),
            };
            writes.insert(ALL, all);
        }
        self.transact_unrecorded(writes.into_values().collect()).await?;
        Ok(sum)
    }
}
