//! Lists spread over several partitions of the table or its indexes, read in parallel and merged by
//! position. The position of an item is its sort key.
//!
//! A list costs half a unit for each 4 KB read and is eventually consistent: new items may be
//! missing for a moment.
//!
//! One request makes at most `MAX_READS` reads of each partition. A search with few matches returns
//! short pages, each with a position to continue from, instead of slowing down as the list grows.
//! No item is skipped: a page ends after the last examined item.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::table::client::Store;
use crate::table::error::Error;
use crate::table::item::{Item, string};

/// The maximum number of reads of each partition for one page.
const MAX_READS: usize = 3;
/// The minimum number of items that one read gets from a partition, because searches examine many
/// items.
const MIN_READ: usize = 40;
/// The maximum size of a page in bytes, unless the page has only one item. The service must not
/// buffer more than this for a caller who reads slowly, and a Lambda function's response is limited
/// to 6 MB.
pub const MAX_PAGE_BYTES: usize = 1_000_000;
/// The maximum number of bytes read for a page. A page ends at this limit, even if the page shows
/// only a small part of what was read.
pub(crate) const MAX_READ_BYTES: usize = 2 * MAX_PAGE_BYTES;
/// The bytes that a response adds to a stored item: field names and ids.
const FRAME: usize = 256;

/// Specifies the part of a list to read.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The position after which the page begins; `None` for the first page.
    pub after: Option<&'a str>,
    /// Whether the order is descending.
    pub descending: bool,
    /// The maximum number of items in the page.
    pub limit: usize,
    /// The number of items to read in a round, divided among the partitions. At least `MIN_READ`
    /// items are read from each partition that runs low on unexamined items.
    pub read: usize,
}

/// A page, with the position after which the next page begins.
#[derive(Debug)]
pub struct Page<T> {
    /// The items, in order.
    pub rows: Vec<T>,
    /// The position after which the next page begins, if there may be one.
    pub next: Option<String>,
}

/// The greatest character. A prefix followed by this character sorts after all positions that begin
/// with the prefix.
const LAST: char = char::MAX;
/// A character that no position contains. Reading includes the start. If this character is appended
/// to a position, reading starts after that position.
const NEXT: char = '\u{1}';

/// The number, from 0, of the partition that contains the item with this id in a list of `shards`
/// partitions.
pub(crate) fn shard_of(id: Uuid, shards: u8) -> u8 {
    let [.., last] = id.into_bytes();
    last % shards
}

/// The name of a partition of a list that had only one partition in earlier versions. The first
/// partition keeps the old name, and therefore contains the old items.
pub(crate) fn shard_name(first: String, shard: u8) -> String {
    if shard == 0 { first } else { format!("{first}#{shard}") }
}

/// A partition of the table or an index, or only its positions with a given prefix.
pub(crate) struct Partition {
    index: Option<&'static str>,
    key: String,
    beginning: Option<String>,
}

impl Partition {
    /// A partition of `gsi1`, the index with whole items.
    pub(crate) fn gsi1(key: String) -> Self {
        Self { index: Some("gsi1"), key, beginning: None }
    }

    /// A partition of `gsi2`, the index with only keys.
    pub(crate) fn gsi2(key: String) -> Self {
        Self { index: Some("gsi2"), key, beginning: None }
    }

    /// A partition of the table.
    pub(crate) fn for_table(key: String) -> Self {
        Self { index: None, key, beginning: None }
    }

    /// Limits the partition to positions with a prefix, which are read in ascending order.
    pub(crate) fn beginning_with(self, text: &str) -> Self {
        Self { beginning: Some(text.to_owned()), ..self }
    }

    /// The name of a key attribute, `pk` or `sk`, of the table or of the index.
    fn attribute(&self, name: &str) -> String {
        format!("{}{name}", self.index.unwrap_or_default())
    }

    /// The position at which reading begins.
    fn start(&self, listing: &Listing<'_>) -> String {
        match (&self.beginning, listing.after) {
            (Some(beginning), None) => beginning.clone(),
            (Some(_), Some(after)) => format!("{after}{NEXT}"),
            // Positions begin with a digit, which sorts after `!` and before `~`.
            (None, after) => after.unwrap_or(if listing.descending { "~" } else { "!" }).to_owned(),
        }
    }
}

/// The progress in one partition.
struct Shard {
    partition: Partition,
    /// The items that have been read but not examined yet.
    waiting: VecDeque<(String, Item)>,
    /// Where to continue reading.
    from: String,
    is_done: bool,
}

impl Shard {
    fn lacks_items(&self) -> bool {
        self.waiting.is_empty() && !self.is_done
    }

    fn head(&self) -> Option<&str> {
        self.waiting.front().map(|(position, _)| position.as_str())
    }
}

impl Store {
    /// The items in order, as parsed by `read`, which returns a value and its size in bytes, or
    /// `None` to omit the item.
    pub(crate) async fn sharded<T>(
        &self,
        partitions: Vec<Partition>,
        listing: Listing<'_>,
        read: impl Fn(&str, Item) -> Result<Option<(T, usize)>, Error>,
    ) -> Result<Page<T>, Error> {
        let shard = |partition: Partition| {
            let from = partition.start(&listing);
            Shard { partition, waiting: VecDeque::new(), from, is_done: false }
        };
        let mut shards: Vec<Shard> = partitions.into_iter().map(shard).collect();
        let (mut rows, mut bytes, mut last) = (Vec::new(), 0, None);
        for _ in 0..MAX_READS {
            self.refill(&mut shards, &listing).await?;
            while let Some((position, item)) = next(&mut shards, listing.descending) {
                if let Some((row, size)) = read(&position, item)? {
                    if rows.len() == listing.limit || is_over(bytes, size) {
                        return Ok(Page { rows, next: last });
                    }
                    bytes += size;
                    rows.push(row);
                }
                last = Some(position);
            }
            if !shards.iter().any(Shard::lacks_items) {
                return Ok(Page { rows, next: None });
            }
        }
        Ok(Page { rows, next: last })
    }

    /// Reads more items from the partitions that run low, in parallel.
    async fn refill(&self, shards: &mut [Shard], listing: &Listing<'_>) -> Result<(), Error> {
        let count = listing.read.div_ceil(shards.len()).max(MIN_READ);
        try_join_all(shards.iter_mut().map(|shard| self.read_on(shard, listing, count))).await.map(drop)
    }

    async fn read_on(&self, shard: &mut Shard, listing: &Listing<'_>, count: usize) -> Result<(), Error> {
        if shard.is_done || shard.waiting.len() > count / 2 {
            return Ok(());
        }
        let partition = &shard.partition;
        let [pk, sk] = ["pk", "sk"].map(|name| partition.attribute(name));
        let order = match (&partition.beginning, listing.descending) {
            (Some(_), _) => "BETWEEN :from AND :last",
            (None, true) => "< :from",
            (None, false) => "> :from",
        };
        let mut query = self
            .query()
            .set_index_name(partition.index.map(str::to_owned))
            .key_condition_expression(format!("{pk} = :pk AND {sk} {order}"))
            .expression_attribute_values(":pk", string(&partition.key))
            .expression_attribute_values(":from", string(&shard.from))
            .scan_index_forward(!listing.descending)
            .limit(i32::try_from(count).unwrap_or(i32::MAX));
        if let Some(beginning) = &partition.beginning {
            query = query.expression_attribute_values(":last", string(format!("{beginning}{LAST}")));
        }
        let (mut items, mut next) = self.query_page(query.clone()).await?;
        // DynamoDB may return an empty page although more items follow. Reading continues after the
        // key that came with the empty page.
        while items.is_empty() && next.is_some() {
            (items, next) = self.query_page(query.clone().set_exclusive_start_key(next)).await?;
        }
        shard.is_done = next.is_none();
        for item in items {
            let position = item.get(&sk).and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
            shard.from = shard.partition.start(&Listing { after: Some(&position), ..*listing });
            shard.waiting.push_back((position, item));
        }
        Ok(())
    }
}

/// Takes the next item in order; `None` if a partition has to be read first, or the list has ended.
fn next(shards: &mut [Shard], descending: bool) -> Option<(String, Item)> {
    if shards.iter().any(Shard::lacks_items) {
        return None;
    }
    let heads = shards.iter().enumerate().filter_map(|(index, shard)| shard.head().map(|head| (head, index)));
    let (_, index) = if descending { heads.max() } else { heads.min() }?;
    shards[index].waiting.pop_front()
}

/// The approximate size of an entity in a response, in bytes.
pub(crate) fn size(entity: &impl serde::Serialize) -> usize {
    FRAME + serde_json::to_string(entity).map_or(0, |text| text.len())
}

/// Whether a page that already has `bytes` bytes has no room for another item of `size` bytes.
pub(crate) fn is_over(bytes: usize, size: usize) -> bool {
    bytes > 0 && bytes + size > MAX_PAGE_BYTES
}
