//! Each user's share of the project's totals ([`crate::metrics::recount`]).

use std::collections::HashMap;

use model::metrics::tally::Tally;
use model::user::User;
use wire::id::{ProjectId, UserId};

use crate::table::{Error, Store, entity};
use crate::user::{USER_SHARDS, list_partition};

/// The users of a project, each with the amounts to add to the totals.
pub type Users = HashMap<UserId, Tally>;

impl Store {
    /// Reads all users of a project from the index; `None` if there are more than `max`. Costs half
    /// a unit for each 4 KB.
    pub async fn tallies_of_users(&self, project: &ProjectId, max: usize) -> Result<Option<Users>, Error> {
        let mut users = Users::new();
        for shard in 0..USER_SHARDS {
            let mut pages = self.query_pages(self.query_list(list_partition(project, shard)));
            while let Some(items) = pages.next().await? {
                for item in items {
                    let user: User = entity(item)?;
                    users.insert(user.id, Tally::of(&user));
                }
                if users.len() > max {
                    return Ok(None);
                }
            }
        }
        Ok(Some(users))
    }

    /// Reads the `changed` users again and updates `users`; deleted users are removed from `users`.
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
}
