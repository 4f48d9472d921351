//! Lists of a project's users, or a team's members, by sign-up time ([`crate::table::sharded`]).

use std::collections::HashMap;

use futures_util::future::try_join_all;
use model::user::User;
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::user_key;
use crate::table::sharded::{Listing, MAX_PAGE_BYTES, MAX_READ_BYTES, Page, Partition, size};
use crate::table::{BATCH, Error, Item, Key, Store};
use crate::user::{USER_SHARDS, UserRow, list_partition};

/// A page of users, with the position after which the next page begins.
pub type UserPage = Page<UserRow>;

/// The number of users read for a page before their size is known.
const FIRST: usize = 20;

/// The partition of `gsi1` that lists the members of a team by sign-up time.
pub(crate) fn sign_up_partition(project: &ProjectId, team: TeamId) -> String {
    format!("T#{project}#{team}#USERS")
}

impl Store {
    /// The users that `keep` accepts, in the order of sign-up.
    pub async fn users(&self, project: &ProjectId, listing: Listing<'_>, keep: impl Fn(&User) -> bool) -> Result<UserPage, Error> {
        let partitions = (0..USER_SHARDS).map(|shard| Partition::gsi1(list_partition(project, shard))).collect();
        let read = |_: &str, item: Item| {
            let row = UserRow::of(item)?;
            let bytes = if keep(&row.user) { size(&row.user) } else { return Ok(None) };
            Ok(Some((row, bytes)))
        };
        self.sharded(partitions, listing, read).await
    }

    /// The members of a team that `keep` accepts, in the order of sign-up. At most `listing.read`
    /// members are examined.
    pub async fn users_of_team(
        &self,
        project: &ProjectId,
        team: TeamId,
        listing: Listing<'_>,
        keep: impl Fn(&User) -> bool,
    ) -> Result<UserPage, Error> {
        let members = vec![Partition::gsi1(sign_up_partition(project, team))];
        self.users_at(project, members, listing, |_| false, |_, user| keep(user)).await
    }

    /// The users in these partitions that `keep` accepts, in the order of their positions, which
    /// end with user ids. Items for which `skip` returns `true` are left out. At most
    /// `listing.read` positions are examined, and each user is returned once.
    pub(super) async fn users_at(
        &self,
        project: &ProjectId,
        partitions: Vec<Partition>,
        listing: Listing<'_>,
        skip: impl Fn(&Item) -> bool,
        keep: impl Fn(&str, &User) -> bool,
    ) -> Result<UserPage, Error> {
        let limit = listing.limit;
        let listing = Listing { limit: listing.read, ..listing };
        let read = |position: &str, item: Item| {
            let id = user_of_position(position).filter(|_| !skip(&item));
            Ok(id.map(|id| ((position.to_owned(), id), 0)))
        };
        let members = self.sharded(partitions, listing, read).await?;
        let ids: Vec<UserId> = members.rows.iter().map(|(_, id)| *id).collect();
        let mut users = self.users_by_id(project, &ids).await?;
        let (mut rows, mut last) = (Vec::new(), None);
        for (position, id) in members.rows {
            if users.get(&id).is_some_and(|row| keep(&position, &row.user)) {
                if rows.len() == limit {
                    return Ok(Page { rows, next: last });
                }
                rows.extend(users.remove(&id));
            }
            last = Some(position);
        }
        Ok(Page { rows, next: members.next })
    }

    /// The existing users among the first of these ids, and the number of ids that were read: all
    /// ids, unless the users take more than about 2 MB. First reads a few users, and then as many
    /// at a time as should take 1 MB, judging by the size of the previous ones.
    pub async fn users_for_page(&self, project: &ProjectId, ids: &[UserId]) -> Result<(HashMap<UserId, UserRow>, usize), Error> {
        let read = async |ids: &[UserId]| -> Result<(Vec<UserRow>, usize), Error> {
            let keys: Vec<Key> = ids.iter().map(|id| user_key(project, *id)).collect();
            let mut items = self.get_many(keys.clone()).await?;
            let bytes = items.bytes();
            let rows: Result<_, Error> = keys.iter().filter_map(|key| items.take(key)).map(UserRow::of).collect();
            Ok((rows?, bytes))
        };
        let (mut users, mut covered, mut all_bytes, mut at_once) = (HashMap::new(), 0, 0, FIRST);
        while covered < ids.len() && all_bytes < MAX_READ_BYTES {
            let some = &ids[covered..ids.len().min(covered + at_once)];
            let batches = try_join_all(some.chunks(BATCH).map(read)).await?;
            let bytes: usize = batches.iter().map(|(_, bytes)| bytes).sum();
            users.extend(batches.into_iter().flat_map(|(rows, _)| rows).map(|row| (row.user.id, row)));
            covered += some.len();
            all_bytes += bytes;
            at_once = (MAX_PAGE_BYTES / bytes.div_ceil(some.len()).max(1)).max(1);
        }
        Ok((users, covered))
    }

    /// The existing users among these ids. Costs one round trip, and one unit for each 4 KB of each
    /// user.
    pub async fn users_by_id(&self, project: &ProjectId, ids: &[UserId]) -> Result<HashMap<UserId, UserRow>, Error> {
        let read = async |ids: &[UserId]| -> Result<Vec<UserRow>, Error> {
            let keys: Vec<Key> = ids.iter().map(|id| user_key(project, *id)).collect();
            let mut items = self.get_many(keys.clone()).await?;
            keys.iter().filter_map(|key| items.take(key)).map(UserRow::of).collect()
        };
        let batches = try_join_all(ids.chunks(BATCH).map(read)).await?;
        Ok(batches.into_iter().flatten().map(|row| (row.user.id, row)).collect())
    }
}

fn user_of_position(position: &str) -> Option<UserId> {
    position.rsplit_once('#').and_then(|(_, id)| UserId::parse(id).ok())
}
