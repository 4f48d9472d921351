//! The list of a project's outbox, newest first.
//!
//! The list has several partitions of `gsi1` per month, which are read in parallel. A page costs
//! half a unit for each 4 KB read of a partition and, like all reads of an index, is eventually
//! consistent. One request reads at most `MAX_ROUNDS` times and about `MAX_READ` entries. A search
//! with few matches therefore returns short pages, each with a position to continue from, instead
//! of slowing down as emails accumulate.

use futures_util::future::try_join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::outbox::OutboxEntry;
use wire::id::ProjectId;

use crate::outbox::{OutboxRow, month, month_partitions, unreadable};
use crate::table::sharded::is_over;
use crate::table::{Error, Item, Key, Store, string};

/// The maximum number of rounds of queries for one page; each month takes at least one.
const MAX_ROUNDS: usize = 24;
/// The number of entries after which a request stops reading; the last round may exceed this
/// number.
const MAX_READ: usize = 1000;
/// A position in the list: a month, and a sort key within it.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct ListPosition {
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    month: Timestamp,
    /// The sort key after which the page begins.
    after: String,
}

/// Specifies the part of the list to read.
#[derive(Debug, Clone, Copy)]
pub struct OutboxListing<'a> {
    /// The position where the page begins; absent to begin with the newest entry.
    pub start: Option<&'a ListPosition>,
    /// A time in the last month of the list.
    pub oldest: Timestamp,
    /// The maximum number of entries in the page.
    pub limit: usize,
    /// The maximum number of entries that one query reads.
    pub read: usize,
    /// The current time.
    pub now: Timestamp,
}

/// A page, with the position of the next page.
#[derive(Debug)]
pub struct OutboxPage<T> {
    /// The entries, newest first, as the caller shows them.
    pub entries: Vec<T>,
    /// The position where the next page begins, if there may be one.
    pub next: Option<ListPosition>,
}

impl ListPosition {
    fn beginning(month: Timestamp) -> Self {
        // Positions begin with a digit, so `~` precedes all positions in descending order.
        Self { month, after: "~".to_owned() }
    }

    fn month_before(&self, oldest: Timestamp) -> Self {
        let last_day = self.month.to_zoned(TimeZone::UTC).first_of_month().and_then(|first| first.yesterday());
        Self::beginning(last_day.map_or(oldest, |day| day.timestamp()))
    }
}

impl Store {
    /// Entries, newest first, down to the month of `oldest`. `read` turns an entry into the value
    /// that is shown for it, with the size of this value in bytes; `None` omits the entry. An entry
    /// that cannot be parsed is skipped and logged.
    pub async fn outbox_entries<T>(
        &self,
        project: &ProjectId,
        listing: OutboxListing<'_>,
        read: impl Fn(OutboxEntry) -> Option<(T, usize)>,
    ) -> Result<OutboxPage<T>, Error> {
        let last_month = month(listing.oldest);
        let mut at = listing.start.cloned().unwrap_or_else(|| ListPosition::beginning(listing.now));
        let (mut entries, mut bytes, mut examined) = (Vec::new(), 0, 0);
        for _ in 0..MAX_ROUNDS {
            let (items, is_last) = self.items_of_month(project, &at, listing.read).await?;
            examined += items.len();
            for item in items {
                let (position, entry) = (position(&item), readable(item));
                if let Some((shown, size)) = entry.and_then(&read) {
                    if entries.len() == listing.limit || is_over(bytes, size) {
                        return Ok(OutboxPage { entries, next: Some(at) });
                    }
                    bytes += size;
                    entries.push(shown);
                }
                at.after = position;
            }
            if is_last && month(at.month) <= last_month {
                return Ok(OutboxPage { entries, next: None });
            }
            if is_last {
                at = at.month_before(listing.oldest);
            }
            if examined >= MAX_READ {
                break;
            }
        }
        Ok(OutboxPage { entries, next: Some(at) })
    }

    /// The items after a position in its month, and whether they include the month's last item.
    async fn items_of_month(&self, project: &ProjectId, at: &ListPosition, count: usize) -> Result<(Vec<Item>, bool), Error> {
        let partitions: Vec<String> = month_partitions(project, at.month).collect();
        let count = count.div_ceil(partitions.len());
        let parts = try_join_all(partitions.iter().map(|partition| self.items_of_partition(partition, &at.after, count))).await?;
        // Beyond the first position at which a partition stopped, items may be missing.
        let stop = parts.iter().filter(|(_, is_last)| !is_last).filter_map(|(items, _)| items.last()).map(position).max();
        let is_last = parts.iter().all(|(_, is_last)| *is_last);
        let is_of_page = |item: &Item| stop.as_ref().is_none_or(|stop| position(item) >= *stop);
        let mut items: Vec<Item> = parts.into_iter().flat_map(|(items, _)| items).filter(is_of_page).collect();
        items.sort_by_cached_key(|item| std::cmp::Reverse(position(item)));
        Ok((items, is_last))
    }

    async fn items_of_partition(&self, partition: &str, after: &str, count: usize) -> Result<(Vec<Item>, bool), Error> {
        let query = self.query().index_name("gsi1");
        let query = query.key_condition_expression("gsi1pk = :pk AND gsi1sk < :after");
        let query = query.expression_attribute_values(":pk", string(partition)).expression_attribute_values(":after", string(after));
        let (items, next) = self.query_page(query.scan_index_forward(false).limit(i32::try_from(count).unwrap_or(i32::MAX))).await?;
        Ok((items, next.is_none()))
    }
}

fn position(item: &Item) -> String {
    item.get("gsi1sk").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default()
}

fn readable(item: Item) -> Option<OutboxEntry> {
    let key = Key::of(&item);
    OutboxRow::of(item).inspect_err(|error| unreadable(key.as_ref(), error)).ok().map(|row| row.entry)
}
