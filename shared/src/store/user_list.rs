//! The list of a project's users, by the time of their sign-up.
//!
//! The list is spread over [`USER_SHARDS`] partitions of `gsi1`, which are read side by side and merged. It costs half a unit for each
//! 4 KB that is passed over, and is eventually consistent, as every index: a user may be missing for a moment after its sign-up.
//!
//! One request reads at most [`ROUNDS`] times: a search for what few users have gives short pages, each with the position to go on
//! from, instead of taking ever longer. Nothing is skipped: a page ends after the last user that was looked at.

use std::collections::VecDeque;

use futures_util::future::try_join_all;

use super::users::{USER_SHARDS, UserRow, list_partition};
use super::{Error, Item, Store, failure, string};
use crate::model::id::ProjectId;
use crate::model::user::User;

/// How often each partition is read for one page.
const ROUNDS: usize = 3;
/// How many users are read at least at a time from each partition; a search passes over many.
const LEAST_READ: usize = 40;
/// A page ends early at this size of its users, as an answer has at most 6 MB on Lambda.
const MAX_PAGE_BYTES: usize = 3 << 20;

/// What a page is made of.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The position after which the page begins.
    pub after: Option<&'a str>,
    pub descending: bool,
    pub limit: usize,
    /// How many users are read at once.
    pub read: usize,
}

/// A page of users, with the position after which the next one begins.
#[derive(Debug)]
pub struct UserPage {
    pub rows: Vec<UserRow>,
    pub next: Option<String>,
}

/// One partition of the list, as far as it is read.
struct Shard {
    partition: String,
    /// Read and not yet looked at.
    waiting: VecDeque<(String, Item)>,
    /// The position that was read last.
    after: String,
    is_done: bool,
}

impl Shard {
    fn lacks_users(&self) -> bool {
        self.waiting.is_empty() && !self.is_done
    }

    fn head(&self) -> Option<&str> {
        self.waiting.front().map(|(position, _)| position.as_str())
    }
}

impl Store {
    /// Users that `keep` keeps, in order.
    pub async fn users(&self, project: &ProjectId, listing: Listing<'_>, keep: impl Fn(&User) -> bool) -> Result<UserPage, Error> {
        // Positions begin with a digit, which is between these.
        let start = listing.after.unwrap_or(if listing.descending { "~" } else { "!" });
        let mut shards: [Shard; USER_SHARDS as usize] = std::array::from_fn(|shard| Shard {
            partition: list_partition(project, u8::try_from(shard).unwrap_or_default()),
            waiting: VecDeque::new(),
            after: start.to_owned(),
            is_done: false,
        });
        let (mut rows, mut bytes, mut last) = (Vec::new(), 0, None);
        for _ in 0..ROUNDS {
            self.refill(&mut shards, &listing).await?;
            while let Some((position, item)) = next(&mut shards, listing.descending) {
                let row = UserRow::of(item)?;
                if keep(&row.user) {
                    if rows.len() == listing.limit || bytes > MAX_PAGE_BYTES {
                        return Ok(UserPage { rows, next: last });
                    }
                    bytes += serde_json::to_string(&row.user).map_or(0, |text| text.len());
                    rows.push(row);
                }
                last = Some(position);
            }
            if !shards.iter().any(Shard::lacks_users) {
                return Ok(UserPage { rows, next: None });
            }
        }
        Ok(UserPage { rows, next: last })
    }

    /// Reads on in the partitions of which little waits, side by side.
    async fn refill(&self, shards: &mut [Shard], listing: &Listing<'_>) -> Result<(), Error> {
        try_join_all(shards.iter_mut().map(|shard| self.read_on(shard, listing))).await.map(drop)
    }

    async fn read_on(&self, shard: &mut Shard, listing: &Listing<'_>) -> Result<(), Error> {
        let count = listing.read.div_ceil(USER_SHARDS.into()).max(LEAST_READ);
        if shard.is_done || shard.waiting.len() > count / 2 {
            return Ok(());
        }
        let order = if listing.descending { "<" } else { ">" };
        let query = self.client.query().table_name(&self.table).index_name("gsi1");
        let answer = query
            .key_condition_expression(format!("gsi1pk = :pk AND gsi1sk {order} :after"))
            .expression_attribute_values(":pk", string(&shard.partition))
            .expression_attribute_values(":after", string(&shard.after))
            .scan_index_forward(!listing.descending)
            .limit(i32::try_from(count).unwrap_or(i32::MAX))
            .send()
            .await
            .map_err(failure)?;
        shard.is_done = answer.last_evaluated_key.is_none_or(|key| key.is_empty());
        for item in answer.items.unwrap_or_default() {
            let position = item.get("gsi1sk").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
            shard.after.clone_from(&position);
            shard.waiting.push_back((position, item));
        }
        Ok(())
    }
}

/// Takes the next user in order; none when a partition has to be read on first, or all are at their end.
fn next(shards: &mut [Shard], descending: bool) -> Option<(String, Item)> {
    if shards.iter().any(Shard::lacks_users) {
        return None;
    }
    let heads = shards.iter().enumerate().filter_map(|(index, shard)| shard.head().map(|head| (head, index)));
    let (_, index) = if descending { heads.max() } else { heads.min() }?;
    shards[index].waiting.pop_front()
}
