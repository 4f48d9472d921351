//! Lists of the trail, newest first. The list of a project is read day by day, that of a user from
//! an index.
//!
//! A page costs one unit for each 4 KB read from the table, and half as much from the index. Days
//! are read in parallel, and each round without entries doubles their number, so that long gaps
//! take few round trips. One request stops after [`MAX_DAYS`] days or `MAX_READ` entries. A search
//! with few matches therefore returns short pages, each with a position to continue from. Expired
//! entries are left out, because DynamoDB may delete them only days later.

use futures_util::future::try_join_all;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use model::project::retention::max_retention;
use model::trail::Entry;
use wire::clock::after;
use wire::id::{ProjectId, UserId};

use crate::table::sharded::{self, Page, size};
use crate::table::{self, Error, Item, Store, number, sortable, string};
use crate::trail::{self, day, day_partitions, user_partition};

/// The number of days after which a request stops reading; the last round may exceed this number.
/// Until entries are found, the rounds read 1, 2 and 4 days, and so on.
pub const MAX_DAYS: usize = 63;
/// The number of entries after which a request stops reading; the last round may exceed this
/// number.
const MAX_READ: usize = 1000;
/// The number of entries by which a partition's share of a page may exceed the average.
const UNEVEN: usize = 16;
/// The maximum time by which the clock of a process that writes entries may be ahead.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(1);

/// Specifies the part of the trail to read.
#[derive(Debug, Clone, Copy)]
pub struct TrailListing<'a> {
    /// The user whom the entries are about; absent for the list of a project.
    pub user: Option<UserId>,
    /// Only entries at or after this time are listed.
    pub from: Timestamp,
    /// Only entries before this time are listed; absent to list all entries until now.
    pub until: Option<Timestamp>,
    /// The position after which the page begins; absent for the first page.
    pub after: Option<&'a str>,
    /// The maximum number of entries in the page.
    pub limit: usize,
    /// The maximum number of entries that one query reads.
    pub read: usize,
    /// The current time.
    pub now: Timestamp,
}

/// A part of the list: a day, or all entries about a user.
struct Part {
    index: Option<&'static str>,
    /// The partitions that the entries of the part are spread over.
    partitions: Vec<String>,
    /// The position before which the next part begins; `None` for the last part.
    next: Option<String>,
}

/// The entries of a part with their positions, and whether the part ends after them.
type EntriesOfPart = (Vec<(String, Item)>, bool);

impl TrailListing<'_> {
    /// The time before which all entries have expired or are outside the list.
    fn oldest(&self) -> Timestamp {
        self.from.max(after(self.now, -max_retention()))
    }

    fn start(&self) -> String {
        let latest = after(self.now, CLOCK_SKEW);
        let until = sortable(self.until.map_or(latest, |until| until.min(latest)));
        // A position from another list may be later than the end of this list.
        self.after.map_or_else(|| until.clone(), |after| after.to_owned().min(until.clone()))
    }

    /// The next parts that may have entries before a position, at most `width` days.
    fn parts(&self, project: &ProjectId, before: &str, width: usize) -> Vec<Part> {
        if let Some(user) = self.user {
            return vec![Part { index: Some("gsi1"), partitions: vec![user_partition(project, user)], next: None }];
        }
        let last = day(self.oldest());
        let mut days = std::iter::successors(newest_day(before), |day| day.yesterday().ok()).take_while(|day| *day >= last);
        let part = |day: Date| Part {
            index: None,
            partitions: day_partitions(project, day).collect(),
            next: (day > last).then(|| midnight(day)).flatten().map(sortable),
        };
        days.by_ref().take(width).map(part).collect()
    }
}

/// The newest day that contains positions before this one.
fn newest_day(before: &str) -> Option<Date> {
    let (millis, has_more) = before.split_once('#').map_or((before, false), |(millis, _)| (millis, true));
    let millis: i64 = millis.parse().ok()?;
    let newest = if has_more { millis } else { millis - 1 };
    Some(day(Timestamp::from_millisecond(newest).ok()?))
}

fn midnight(day: Date) -> Option<Timestamp> {
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

impl Store {
    /// The entries that `keep` accepts, newest first, with the position after which the next page
    /// begins. A page may have fewer entries than requested, or none, even if more entries follow.
    /// An entry that cannot be parsed is skipped and logged.
    pub async fn trail(&self, project: &ProjectId, listing: TrailListing<'_>, keep: impl Fn(&Entry) -> bool) -> Result<Page<Entry>, Error> {
        let first = sortable(listing.oldest());
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let (mut before, mut width, mut days, mut read) = (listing.start(), 1, 0, 0);
        while days < MAX_DAYS && read < MAX_READ {
            if before <= first {
                return Ok(Page { rows, next: None });
            }
            let parts = listing.parts(project, &before, width);
            let found = try_join_all(parts.iter().map(|part| self.trail_part(part, &first, &before, listing.read))).await?;
            days += parts.len();
            let count: usize = found.iter().map(|(items, _)| items.len()).sum();
            (read, width) = (read + count, if count == 0 { width * 2 } else { 1 });
            for (part, (items, is_over)) in parts.into_iter().zip(found) {
                for (position, item) in items {
                    if let Some(entry) = live(item, &position, listing.now).filter(&keep) {
                        let size = size(&entry);
                        if rows.len() == listing.limit || sharded::is_over(bytes, size) {
                            return Ok(Page { rows, next: Some(before) });
                        }
                        bytes += size;
                        rows.push(entry);
                    }
                    before = position;
                }
                match part.next {
                    _ if !is_over => break,
                    Some(next) => before = next,
                    None => return Ok(Page { rows, next: None }),
                }
            }
        }
        Ok(Page { rows, next: Some(before) })
    }

    /// The entries of a part between `first` and another position, newest first.
    async fn trail_part(&self, part: &Part, first: &str, before: &str, count: usize) -> Result<EntriesOfPart, Error> {
        let count = count.div_ceil(part.partitions.len()) + if part.partitions.len() > 1 { UNEVEN } else { 0 };
        let read = part.partitions.iter().map(|partition| self.trail_partition((part.index, partition), first, before, count));
        let found = try_join_all(read).await?;
        // Beyond the first position at which a partition stopped, entries may be missing.
        let stops = found.iter().filter(|(_, is_over)| !is_over).filter_map(|(entries, _)| entries.last());
        let stop = stops.map(|(position, _)| position.clone()).max();
        let is_over = found.iter().all(|(_, is_over)| *is_over);
        let is_of_page = |(position, _): &(String, Item)| stop.as_ref().is_none_or(|stop| position >= stop);
        let mut entries: Vec<(String, Item)> = found.into_iter().flat_map(|(entries, _)| entries).filter(is_of_page).collect();
        entries.sort_unstable_by(|(one, _), (other, _)| other.cmp(one));
        Ok((entries, is_over))
    }

    /// The entries of a partition of the table or of an index between `first` and another position,
    /// newest first.
    async fn trail_partition(
        &self,
        (index, partition): (Option<&str>, &str),
        first: &str,
        before: &str,
        count: usize,
    ) -> Result<EntriesOfPart, Error> {
        let [pk, sk] = ["pk", "sk"].map(|name| format!("{}{name}", index.unwrap_or_default()));
        let query = self
            .query()
            .set_index_name(index.map(str::to_owned))
            .key_condition_expression(format!("{pk} = :pk AND {sk} BETWEEN :first AND :before"))
            .expression_attribute_values(":pk", string(partition))
            .expression_attribute_values(":first", string(first))
            .expression_attribute_values(":before", string(before))
            .scan_index_forward(false)
            .consistent_read(index.is_none())
            // One entry more than needed, because the range includes `before`, which is left out.
            .limit(i32::try_from(count + 1).unwrap_or(i32::MAX));
        let (items, next) = self.query_page(query).await?;
        let with_position = |item: Item| Some((item.get(&sk)?.as_s().ok()?.clone(), item));
        Ok((items.into_iter().filter_map(with_position).filter(|(position, _)| position != before).collect(), next.is_none()))
    }
}

/// The entry of an item, unless the entry has expired or cannot be parsed.
fn live(item: Item, position: &str, now: Timestamp) -> Option<Entry> {
    let is_over = number::<i64>(&item, table::TTL).is_some_and(|until| until <= now.as_second());
    if is_over {
        return None;
    }
    trail::read(item).inspect_err(|error| tracing::error!(%error, position, "a trail entry cannot be parsed")).ok()
}
