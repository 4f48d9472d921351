//! The list of a project's outbox entries, newest first.
//!
//! The list has several partitions of `gsi1` per month, which are read together
//! ([`sharded`](crate::table::sharded)). One request reads at most `MAX_MONTHS` months.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::outbox::OutboxEntry;
use wire::id::ProjectId;

use crate::outbox::{OutboxRow, month, month_partitions, unreadable};
use crate::table::sharded::{Listing, Partition, is_over};
use crate::table::{Error, Item, Key, Store};

/// The maximum number of months read for one page.
const MAX_MONTHS: usize = 24;

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
        let (mut entries, mut bytes) = (Vec::new(), 0);
        for _ in 0..MAX_MONTHS {
            let partitions = month_partitions(project, at.month).map(Partition::gsi1).collect();
            // Even if the page is full, one more entry is read, to find out whether another page
            // follows.
            let limit = listing.limit.saturating_sub(entries.len()).max(1);
            let of_month = Listing { after: Some(&at.after), descending: true, limit, read: listing.read };
            let shown = |position: &str, item: Item| {
                let shown = readable(item).and_then(&read);
                Ok(shown.map(|(shown, size)| ((position.to_owned(), shown, size), size)))
            };
            let page = self.sharded(partitions, of_month, shown).await?;
            for (position, shown, size) in page.rows {
                if entries.len() == listing.limit || is_over(bytes, size) {
                    return Ok(OutboxPage { entries, next: Some(at) });
                }
                bytes += size;
                entries.push(shown);
                at.after = position;
            }
            if let Some(after) = page.next {
                return Ok(OutboxPage { entries, next: Some(ListPosition { after, ..at }) });
            }
            if month(at.month) <= last_month {
                return Ok(OutboxPage { entries, next: None });
            }
            at = at.month_before(listing.oldest);
        }
        Ok(OutboxPage { entries, next: Some(at) })
    }
}

fn readable(item: Item) -> Option<OutboxEntry> {
    let key = Key::of(&item);
    OutboxRow::of(item).inspect_err(|error| unreadable(key.as_ref(), error)).ok().map(|row| row.entry)
}
