//! Verifies a chain of links, and that each day has exactly the entries covered by its links. The
//! check does not read the table: the caller supplies links and entries in order
//! (`shared/store/src/trail/check.rs`).

use std::collections::{BTreeMap, HashMap};

use crypto::digest::Digest;
use crypto::trail_keys::{Mac, TrailKeys};
use jiff::Timestamp;
use jiff::civil::Date;
use wire::id::ProjectId;

use crate::trail::chain::{CoveredEntry, Head, Link, beginning};

/// A problem found in a trail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A covered entry is not in the table.
    #[error("entry {0} is missing")]
    EntryMissing(String),
    /// An entry differs from the record in its link.
    #[error("entry {0} was changed")]
    EntryChanged(String),
    /// No link covers the entry.
    #[error("entry {0} is not in any link: it was added later, or its link was removed")]
    EntryAdded(String),
    /// The chain has no link with this number.
    #[error("link {0} is missing")]
    LinkMissing(u64),
    /// The link has a wrong MAC or cannot be parsed.
    #[error("link {0} was changed, or was made with another GATELET_SECRET")]
    LinkChanged(u64),
    /// The link has the wrong number, or the digest of another predecessor.
    #[error("link {0} does not follow the one before it")]
    LinkMoved(u64),
    /// There are links but no head.
    #[error("the head of the chain is missing")]
    HeadMissing,
    /// The head's MAC is wrong.
    #[error("the head of the chain was changed, or was made with another GATELET_SECRET")]
    HeadChanged,
    /// The head refers to a link other than the last one.
    #[error("the head of the chain does not match its last link {0}")]
    HeadMoved(u64),
    /// The expected link differs or is missing, possibly because it has expired.
    #[error("link {0} is missing, has expired, or is not the expected one")]
    Unexpected(u64),
}

/// A link recorded elsewhere, such as in the log, that must still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedLink {
    /// The number of the link.
    pub number: u64,
    /// The digest of the link.
    pub digest: Digest,
}

/// The result of checking a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayReport {
    /// The day (UTC).
    pub day: Date,
    /// The number of entries on the day.
    pub entries: usize,
    /// The number of links that cover entries of the day.
    pub links: usize,
    /// The number of recent entries that are not linked yet, or not with their latest count.
    pub unlinked: usize,
    /// The first problem, if any was found.
    pub problem: Option<Problem>,
}

/// Checks a chain link by link.
pub struct Chain<'a> {
    project: &'a ProjectId,
    keys: &'a TrailKeys,
    now: Timestamp,
    /// The head that the chain would have if it ended here.
    last: Option<Head>,
    expected: Option<ExpectedLink>,
    /// The entries covered so far, by day.
    days: BTreeMap<Date, CoveredDay>,
}

/// The entries that links cover on one day.
#[derive(Debug, Default)]
pub struct CoveredDay {
    entries: HashMap<String, CoveredEntry>,
    links: usize,
    problem: Option<Problem>,
}

impl<'a> Chain<'a> {
    /// A check that starts at the beginning of a chain.
    pub fn new(project: &'a ProjectId, keys: &'a TrailKeys, expected: Option<ExpectedLink>, now: Timestamp) -> Self {
        Self { project, keys, now, last: None, expected, days: BTreeMap::new() }
    }

    /// Checks the next link; `None` is a link that cannot be parsed. Returns whether the link is
    /// authentic.
    pub fn take(&mut self, number: u64, day: Date, link: Option<(Link, Mac)>) -> bool {
        let problem = self.problem_of(number, link.as_ref());
        let is_authentic = !matches!(problem, Some(Problem::LinkChanged(_)));
        let covered = self.days.entry(day).or_default();
        covered.links += 1;
        covered.problem = covered.problem.take().or(problem);
        let Some((link, _)) = link else { return false };
        let last = Head::of(&link);
        if self.expected.as_ref().is_some_and(|expected| expected.number == number && expected.digest == last.digest) {
            self.expected = None;
        }
        self.last = Some(last);
        if is_authentic {
            covered.entries.extend(link.entries.into_iter().map(|entry| (entry.position.clone(), entry)));
        }
        is_authentic
    }

    /// The number of the last link taken; 0 before the first.
    pub fn number(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.number)
    }

    fn problem_of(&self, number: u64, link: Option<&(Link, Mac)>) -> Option<Problem> {
        let link = link.filter(|(link, mac)| self.keys.verify(&link.text(self.project), mac).is_some());
        let Some((link, _)) = link else { return Some(Problem::LinkChanged(number)) };
        let next = self.next();
        if link.number != number || number < next {
            return Some(Problem::LinkMoved(number));
        }
        if number > next {
            // Links expire in order: if the previous link may have expired, so may all earlier
            // ones.
            let may_be_gone = link.previous_expires_at <= self.now.as_second();
            return (!may_be_gone).then(|| self.missing_before(number));
        }
        let expected = self.last.as_ref().map_or_else(|| beginning(self.project), |last| last.digest.clone());
        (link.previous != expected).then_some(Problem::LinkMoved(number))
    }

    /// The number of the link that follows the last one taken.
    fn next(&self) -> u64 {
        self.last.as_ref().map_or(1, |last| last.number + 1)
    }

    /// The problem that links before this number are missing. It names the first of them if that
    /// cannot have expired, otherwise the last.
    fn missing_before(&self, number: u64) -> Problem {
        let is_next = self.last.as_ref().is_some_and(|last| last.expires_at > self.now.as_second());
        Problem::LinkMissing(if is_next { self.next() } else { number.saturating_sub(1) })
    }

    /// Removes and returns the covered entries of the days before this one, which later links do
    /// not cover.
    pub fn days_before(&mut self, day: Date) -> BTreeMap<Date, CoveredDay> {
        let rest = self.days.split_off(&day);
        std::mem::replace(&mut self.days, rest)
    }

    /// Ends the check by comparing the head with the last link, and checking that the expected link
    /// was present. Returns the covered entries of the remaining days, and the first problem.
    pub fn end(self, head: Option<(&Head, &Mac)>) -> (BTreeMap<Date, CoveredDay>, Option<Problem>) {
        let problem = self.problem_of_head(head).or_else(|| self.unexpected(head));
        (self.days, problem)
    }

    fn problem_of_head(&self, head: Option<(&Head, &Mac)>) -> Option<Problem> {
        let Some((head, mac)) = head else { return self.last.as_ref().map(|_| Problem::HeadMissing) };
        if self.keys.verify(&head.text(self.project), mac).is_none() {
            return Some(Problem::HeadChanged);
        }
        match self.last.as_ref() {
            Some(last) if last.number > head.number || (last.number == head.number && *last != *head) => {
                Some(Problem::HeadMoved(last.number))
            }
            Some(last) if last.number == head.number => None,
            _ => (head.expires_at > self.now.as_second()).then(|| self.missing_before(head.number + 1)),
        }
    }

    /// The problem that the expected link was neither in the chain nor in the head.
    fn unexpected(&self, head: Option<(&Head, &Mac)>) -> Option<Problem> {
        let expected = self.expected.as_ref()?;
        let is_of_head = head.is_some_and(|(head, _)| head.number == expected.number && head.digest == expected.digest);
        (!is_of_head).then_some(Problem::Unexpected(expected.number))
    }
}

impl CoveredDay {
    /// Compares the covered entries with the existing ones (`found`). Entries after the position
    /// `fresh` may still be unlinked.
    pub fn check(mut self, day: Date, found: impl IntoIterator<Item = CoveredEntry>, fresh: &str, now: Timestamp) -> DayReport {
        let mut report = DayReport { day, entries: 0, links: self.links, unlinked: 0, problem: None };
        let (mut first, now) = (None, now.as_second());
        for entry in found {
            report.entries += 1;
            let covered = self.entries.remove(&entry.position);
            let is_fresh = entry.position.as_str() > fresh;
            let problem = match covered {
                Some(covered) if covered == entry => continue,
                Some(covered) if is_fresh && entry.counts_on(&covered) => {
                    report.unlinked += 1;
                    continue;
                }
                Some(_) => Problem::EntryChanged(entry.id().to_owned()),
                None if is_fresh => {
                    report.unlinked += 1;
                    continue;
                }
                // The link of an expired entry may have expired too.
                None if entry.until <= now => continue,
                None => Problem::EntryAdded(entry.id().to_owned()),
            };
            first = first.or(Some((entry.position, problem)));
        }
        let missing = self.entries.into_values().filter(|entry| entry.until > now).min_by(|a, b| a.position.cmp(&b.position));
        let missing = missing.map(|entry| (entry.position.clone(), Problem::EntryMissing(entry.id().to_owned())));
        let of_entries = first.into_iter().chain(missing).min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, problem)| problem);
        report.problem = self.problem.or(of_entries);
        report
    }
}
