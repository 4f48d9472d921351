//! Counts the totals of a project anew from its users and teams, while requests change them.
//!
//! All entries of the trail are linked before the result is written. The write fails if a link has
//! altered a total since before the accounts were read; the changed accounts are then read again.
//! So every change is either in the accounts that were read, or in an entry that a later link adds
//! to the result.

use std::collections::HashMap;

use jiff::Timestamp;
use model::metrics::tally::{TEAMS, Tally};
use wire::id::{ProjectId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, entity, integer, string};
use crate::metrics::counters::item_of;
use crate::metrics::{ALL, COUNTRIES, LISTS_ACTIVITY, LISTS_WORDS, METHODS, Totals, key};
use crate::team::{self, TEAM_SHARDS};
use crate::user::{self, USER_SHARDS};
use crate::write::Write;

/// The users of a project, each with the amounts that the user adds to the totals.
pub type Users = HashMap<UserId, Tally>;

impl Store {
    /// Reads all users of a project from the index; `None` if there are more than `most`. Costs
    /// half a unit for each 4 KB.
    pub async fn tallies_of_users(&self, project: &ProjectId, most: usize) -> Result<Option<Users>, Error> {
        let mut users = Users::new();
        for shard in 0..USER_SHARDS {
            let mut from: Option<Item> = None;
            loop {
                let (items, next) = self.listed(&user::list_partition(project, shard), from).await?;
                for item in items {
                    let user: model::user::User = entity(item)?;
                    users.insert(user.id, Tally::of(&user));
                }
                if users.len() > most {
                    return Ok(None);
                }
                from = next;
                if from.is_none() {
                    break;
                }
            }
        }
        Ok(Some(users))
    }

    /// Reads the `changed` users again and updates `users`; deleted users are removed.
    pub async fn tally_again(&self, project: &ProjectId, users: &mut Users, changed: &[UserId]) -> Result<(), Error> {
        let found = self.users_by_id(project, changed).await?;
        for id in changed {
            match found.get(id) {
                Some(row) => users.insert(*id, Tally::of(&row.user)),
                None => users.remove(id),
            };
        }
        Ok(())
    }

    /// The number of teams in the project's list. Costs half a unit for each 4 KB.
    pub async fn count_teams(&self, project: &ProjectId) -> Result<i64, Error> {
        let mut count = 0;
        for shard in 0..TEAM_SHARDS {
            let mut from: Option<Item> = None;
            loop {
                let (items, next) = self.listed(&team::list_partition(project, shard), from).await?;
                count += i64::try_from(items.len()).unwrap_or(i64::MAX);
                from = next;
                if from.is_none() {
                    break;
                }
            }
        }
        Ok(count)
    }

    /// A page of a list in `gsi1`.
    pub(crate) async fn listed(&self, partition: &str, from: Option<Item>) -> Result<(Vec<Item>, Option<Item>), Error> {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk");
        let query = query.expression_attribute_values(":pk", string(partition)).set_exclusive_start_key(from);
        self.query_page(query).await
    }

    /// Replaces the totals, and records that all users have a place in the list by activity and are
    /// in the index of words, which the caller ensures. [`Error::Conflict`] if a link has altered
    /// the totals since `before` was read.
    pub async fn set_totals(
        &self,
        project: &ProjectId,
        before: &Totals,
        users: &Users,
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
