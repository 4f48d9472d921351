//! Checks an entire trail. Only the command line uses this module, never a Lambda function.
//!
//! Reads every link and every entry of a project, at one unit for each 4 KB; only days with late
//! links are read more than once. At any time, memory contains the covered entries of about two
//! days.

use std::collections::BTreeMap;

use crypto::digest::Digest;
use crypto::trail_keys::TrailKeys;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use model::project::retention::max_retention;
use model::trail::chain::{Head, Link, OVERLAP, time_of};
use model::trail::check::{Chain, CoveredDay, DayReport, FoundEntry, Problem, RecordedLinks};
use wire::clock::after;
use wire::id::ProjectId;

use crate::table::{Error, Item, Key, Store, entity};
use crate::trail::chain::{DayEntry, SignedItem, earlier, number_of};
use crate::trail::day;

/// How long expired items may remain in the table.
const LATE_EXPIRY: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The result of checking a trail as a whole; its days are reported separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailReport {
    /// The number and digest of the last link, according to the head; `None` if there is no head.
    pub last: Option<(u64, Digest)>,
    /// The problems with the chain as a whole.
    pub problems: Vec<Problem>,
}

/// Compares the days of the trail in order.
struct Days<'a> {
    store: &'a Store,
    project: &'a ProjectId,
    /// The next day to compare.
    next: Date,
    /// Entries after this position may be too new to have a link.
    linked: String,
    /// The time when the project was created; `None` if the project does not exist.
    created_at: Option<Timestamp>,
    now: Timestamp,
    /// Whether there are entries without links that should already have one.
    is_overdue: bool,
}

impl Store {
    /// Compares the trail of a project with its links, and calls `report` for each day that has
    /// entries or links. Days are reported in order, except days with late links.
    pub async fn check_trail(
        &self,
        project: &ProjectId,
        keys: &TrailKeys,
        recorded: RecordedLinks,
        now: Timestamp,
        mut report: impl FnMut(DayReport),
    ) -> Result<TrailReport, Error> {
        let (row, first) = tokio::try_join!(self.project(project), self.head_as_found(project))?;
        // Without a head, no entry is known to have a link.
        let linked = first.readable().map(|head| earlier(&head.of.watermark, OVERLAP)).unwrap_or_default();
        let created_at = row.map(|row| row.project.created_at);
        let next = day(after(now, -(max_retention() + LATE_EXPIRY)));
        let mut days = Days { store: self, project, next, linked, created_at, now, is_overdue: false };
        let (mut chain, mut from, mut seen) = (Chain::new(project, keys, recorded, now), None, None);
        let head = loop {
            let (items, next) = self.query_page(self.links(project).set_exclusive_start_key(from.clone())).await?;
            let is_end = next.is_none();
            from = next.or_else(|| items.last().and_then(Key::of).map(|key| key.item())).or(from);
            for item in items {
                let (number, link) = read(item);
                let watermark = link.as_ref().and_then(|link| time_of(&link.of.watermark));
                let of_day = link.as_ref().map_or(days.next, |link| link.of.day);
                let is_authentic = chain.take(number, of_day, link.map(|link| (link.of, link.mac)));
                // A link belongs to the day of its watermark or the day before.
                if let Some(whole) = watermark.filter(|_| is_authentic).and_then(|time| day(time).yesterday().ok()) {
                    days.compare(chain.days_before(whole), whole, &mut report).await?;
                }
            }
            if !is_end {
                continue;
            }
            // A worker may be adding links at the same time. New links, and then the head, are
            // therefore read until the head matches the last link or stops changing.
            let head = self.head_as_found(project).await?;
            let number = head.readable().map(|head| head.of.number);
            if number <= Some(chain.number()) || number == seen {
                break head;
            }
            seen = number;
        };
        let (rest, mut problems) = chain.end(head.readable().map(|head| (&head.of, &head.mac)));
        let end = day(after(now, SignedDuration::from_hours(48)));
        days.compare(rest, end, &mut report).await?;
        match head {
            FoundHead::Unreadable => {
                problems.retain(|problem| *problem != Problem::HeadMissing);
                problems.push(Problem::HeadChanged);
            }
            FoundHead::Missing if days.is_overdue && !problems.contains(&Problem::HeadMissing) => problems.push(Problem::HeadMissing),
            _ => {}
        }
        if days.created_at.is_none() {
            problems.push(Problem::ProjectMissing);
        }
        Ok(TrailReport { last: head.readable().map(|head| (head.of.number, head.of.digest.clone())), problems })
    }

    async fn head_as_found(&self, project: &ProjectId) -> Result<FoundHead, Error> {
        match self.trail_head(project).await {
            Err(Error::Corrupt(_)) => Ok(FoundHead::Unreadable),
            head => Ok(head?.map_or(FoundHead::Missing, FoundHead::Readable)),
        }
    }
}

/// The head of a chain, which somebody may have tampered with.
enum FoundHead {
    Missing,
    /// The head exists, but cannot be parsed.
    Unreadable,
    Readable(SignedItem<Head>),
}

impl FoundHead {
    fn readable(&self) -> Option<&SignedItem<Head>> {
        if let Self::Readable(head) = self { Some(head) } else { None }
    }
}

/// The number in the key of a link, and the link; `None` if the link cannot be parsed.
fn read(item: Item) -> (u64, Option<SignedItem<Link>>) {
    let number = Key::of(&item).and_then(|key| number_of(&key.sk)).unwrap_or_default();
    (number, entity(item).ok())
}

impl Days<'_> {
    /// Compares the days before `end` that have not been compared yet, and the additional days in
    /// `covered`.
    async fn compare(
        &mut self,
        mut covered: BTreeMap<Date, CoveredDay>,
        end: Date,
        report: &mut impl FnMut(DayReport),
    ) -> Result<(), Error> {
        // A link to a day that was already compared is days late, or the day in the link is
        // invalid.
        while let Some((day, _)) = covered.first_key_value().filter(|(day, _)| **day < self.next) {
            let day = *day;
            let covered = covered.remove(&day).unwrap_or_default();
            report(self.check(day, covered).await?);
        }
        while self.next < end {
            let covered = covered.remove(&self.next).unwrap_or_default();
            let of_day = self.check(self.next, covered).await?;
            if of_day.entries > 0 || of_day.links > 0 {
                report(of_day);
            }
            let Ok(tomorrow) = self.next.tomorrow() else { break };
            self.next = tomorrow;
        }
        for (day, covered) in covered {
            report(self.check(day, covered).await?);
        }
        Ok(())
    }

    async fn check(&mut self, day: Date, covered: CoveredDay) -> Result<DayReport, Error> {
        let report = covered.check(day, self.entries(day).await?, &self.linked, self.now);
        self.is_overdue |= matches!(report.problem, Some(Problem::EntryOverdue(_)));
        Ok(report)
    }

    async fn entries(&self, day: Date) -> Result<Vec<FoundEntry>, Error> {
        let (mut entries, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.store.day_of_trail(self.project, day, &after, "~").await?;
            entries.extend(page.entries.into_iter().map(|entry| self.found(entry)));
            match page.next {
                Some(next) => after = next,
                None => return Ok(entries),
            }
        }
    }

    fn found(&self, DayEntry { covered, is_misplaced, .. }: DayEntry) -> FoundEntry {
        // A request may begin before the project that it creates, and the time of a counted entry
        // is the start of its minute.
        let is_hidden = covered.at().zip(self.created_at).is_some_and(|(at, created_at)| after(at, OVERLAP) < created_at);
        FoundEntry { covered, is_misplaced, is_hidden }
    }
}
