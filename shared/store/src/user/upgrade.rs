//! Adds users from earlier versions to the lists of a project.

use futures_util::future::try_join_all;
use wire::id::ProjectId;

use crate::table::{Error, Item, Store};
use crate::user::by_activity::is_placed;
use crate::user::place::USER_SHARDS;
use crate::user::{UserRow, list_partition};

/// The number of users added at a time.
const AT_ONCE: usize = 25;

impl Store {
    /// Adds a project's unlisted users to the list by last activity, and writes the words of all
    /// users and the places of their claimed addresses. Costs half a unit for each 4 KB of all
    /// users and three units for each user without a place. Also costs two units for each user and
    /// for each word, and two for each claim without a place.
    pub async fn list_older_users(&self, project: &ProjectId) -> Result<(), Error> {
        for shard in 0..USER_SHARDS {
            let mut pages = self.query_pages(self.query_list(list_partition(project, shard)));
            while let Some(items) = pages.next().await? {
                let read = |item: Item| Ok((is_placed(&item), UserRow::of(item)?));
                let rows = items.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?;
                for rows in rows.chunks(AT_ONCE) {
                    let unplaced = rows.iter().filter(|(is_placed, _)| !is_placed);
                    try_join_all(unplaced.map(|(_, row)| self.place_user(project, row))).await?;
                    try_join_all(rows.iter().map(|(_, row)| self.index_user(project, row))).await?;
                }
            }
        }
        Ok(())
    }
}
