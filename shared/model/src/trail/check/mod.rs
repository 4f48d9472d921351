//! Verifies a chain of links, and that each day contains exactly the entries that its links cover.
//! The check does not read the table: the caller passes links and entries in order
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
    /// The table does not contain an entry that a link covers.
    #[error("entry {0} is missing")]
    EntryMissing(String),
    /// An entry differs from the record in its link.
    #[error("entry {0} was changed")]
    EntryChanged(String),
    /// The time or id in the entry does not match the entry's key in the table, or the entry never
    /// expires.
    #[error("entry {0} does not match its key in the table: it was changed or backdated")]
    EntryMisplaced(String),
    /// The entry is older than the project, so lists omit it.
    #[error("entry {0} is hidden, because it is older than the project: the project's item was changed")]
    EntryHidden(String),
    /// The entry is not linked, although a worker should have linked it by now.
    #[error("entry {0} has not been linked for more than a day: no worker ran, or its link was removed")]
    EntryOverdue(String),
    /// The entry is not covered by any link.
    #[error("entry {0} is not in any link: it was added later, or its link was removed")]
    EntryAdded(String),
    /// The chain does not contain a link with this number.
    #[error("link {0} is missing")]
    LinkMissing(u64),
    /// The MAC of the link is wrong, or the link cannot be parsed.
    #[error("link {0} was changed, or was made with another GATELET_SECRET")]
    LinkChanged(u64),
    /// The link contains the wrong number, or the digest of a link other than the previous one.
    #[error("link {0} does not follow the previous link")]
    LinkMoved(u64),
    /// The link was made too long after its entries.
    #[error("link {0} was made more than a day after its entries: no worker ran, or earlier links were removed")]
    LinkLate(u64),
    /// The head is missing, although there are links, or entries that must have had links.
    #[error("the head of the chain is missing")]
    HeadMissing,
    /// The MAC of the head is wrong.
    #[error("the head of the chain was changed, or was made with another GATELET_SECRET")]
    HeadChanged,
    /// The head refers to a link other than the last one.
    #[error("the head of the chain does not match its last link {0}")]
    HeadMoved(u64),
    /// The trail does not belong to an existing project.
    #[error("the project does not exist, but its trail does: the project's item was removed")]
    ProjectMissing,
    /// The expected link is different or missing, possibly because it has expired.
    #[error("link {0} is missing, has expired, or is not the expected link")]
    Unexpected(u64),
}

/// A link that was recorded elsewhere, such as in the log, and must still exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedLink {
    /// The number of the link.
    pub number: u64,
    /// The digest of the link.
    pub digest: Digest,
}

/// The links recorded elsewhere.
#[derive(Debug, Clone, Default)]
pub struct RecordedLinks {
    /// A link that must still exist.
    pub expected: Option<ExpectedLink>,
    /// A second link that must still exist. The operator has checked the entries covered by this
    /// link and all earlier links, so these links may be late.
    pub accepted: Option<ExpectedLink>,
}

/// An entry found in the table.
#[derive(Debug, Clone)]
pub struct FoundEntry {
    /// The entry as it would be recorded in a link.
    pub covered: CoveredEntry,
    /// Whether the time or id in the entry does not match the entry's key in the table, or the
    /// entry never expires.
    pub is_misplaced: bool,
    /// Whether the entry is older than the project.
    pub is_hidden: bool,
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
    /// The number of recent entries that are not linked yet, or are linked with an earlier count.
    pub unlinked: usize,
    /// The first problem, if one was found.
    pub problem: Option<Problem>,
}

/// Checks a chain, one link after the other.
pub struct Chain<'a> {
    project: &'a ProjectId,
    keys: &'a TrailKeys,
    now: Timestamp,
    /// The head that the chain would have if it ended here.
    last: Option<Head>,
    /// The expected links that have not been found yet.
    expected: Vec<ExpectedLink>,
    /// The number of the last link that may be late.
    accepted: u64,
    /// What the links checked so far record about each day.
    days: BTreeMap<Date, CoveredDay>,
}

/// What the links record about a day: its entries, the number of links, and the first problem.
#[derive(Debug, Default)]
pub struct CoveredDay {
    entries: HashMap<String, CoveredEntry>,
    links: usize,
    problem: Option<Problem>,
}

impl<'a> Chain<'a> {
    /// A check that starts at the beginning of a chain.
    pub fn new(project: &'a ProjectId, keys: &'a TrailKeys, recorded: RecordedLinks, now: Timestamp) -> Self {
        let accepted = recorded.accepted.as_ref().map_or(0, |link| link.number);
        let expected = recorded.expected.into_iter().chain(recorded.accepted).collect();
        Self { project, keys, now, last: None, expected, accepted, days: BTreeMap::new() }
    }

    /// Checks the next link; `None` means a link that cannot be parsed. Returns whether the link is
    /// authentic.
    pub fn take(&mut self, number: u64, day: Date, link: Option<(Link, Mac)>) -> bool {
        let problem = self.problem_of(number, link.as_ref());
        let is_authentic = !matches!(problem, Some(Problem::LinkChanged(_)));
        let covered = self.days.entry(day).or_default();
        covered.links += 1;
        covered.problem = covered.problem.take().or(problem);
        let Some((link, _)) = link else { return false };
        let last = Head::of(&link);
        self.expected.retain(|expected| expected.number != number || expected.digest != last.digest);
        self.last = Some(last);
        if is_authentic {
            covered.entries.extend(link.entries.into_iter().map(|entry| (entry.position.clone(), entry)));
        }
        is_authentic
    }

    /// The number of the last link that was checked; 0 if none was checked.
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
        let expected = self.last.as_ref().map_or_else(|| beginning(self.project), |last| last.digest.clone());
        // Links expire in order: if the previous link may have expired, all earlier links may have
        // expired too.
        if number > next && link.previous_expires_at > self.now.as_second() {
            return Some(self.missing_before(number));
        }
        if number == next && link.previous != expected {
            return Some(Problem::LinkMoved(number));
        }
        (number > self.accepted && link.is_late(self.now)).then_some(Problem::LinkLate(number))
    }

    /// The expected number of the next link.
    fn next(&self) -> u64 {
        self.last.as_ref().map_or(1, |last| last.number + 1)
    }

    /// The problem that links are missing before this number. The problem names the first missing
    /// link if that link cannot have expired, and otherwise the last missing link.
    fn missing_before(&self, number: u64) -> Problem {
        let is_next = self.last.as_ref().is_some_and(|last| last.expires_at > self.now.as_second());
        Problem::LinkMissing(if is_next { self.next() } else { number.saturating_sub(1) })
    }

    /// Removes and returns the covered entries of all days before this day; later links do not
    /// cover these days.
    pub fn days_before(&mut self, day: Date) -> BTreeMap<Date, CoveredDay> {
        let rest = self.days.split_off(&day);
        std::mem::replace(&mut self.days, rest)
    }

    /// Ends the check: compares the head with the last link, and reports recorded links that were
    /// not found. Returns the covered entries of the remaining days, and the problems that were
    /// found.
    pub fn end(self, head: Option<(&Head, &Mac)>) -> (BTreeMap<Date, CoveredDay>, Vec<Problem>) {
        let is_of_head = |link: &&ExpectedLink| head.is_some_and(|(head, _)| head.number == link.number && head.digest == link.digest);
        let unexpected = self.expected.iter().filter(|link| !is_of_head(link)).map(|link| Problem::Unexpected(link.number));
        let problems = self.problem_of_head(head).into_iter().chain(unexpected).collect();
        (self.days, problems)
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
}

impl CoveredDay {
    /// Compares the covered entries with the entries found in the table. Entries after the position
    /// `linked` need not be linked yet, unless they are overdue.
    pub fn check(mut self, day: Date, found: impl IntoIterator<Item = FoundEntry>, linked: &str, now: Timestamp) -> DayReport {
        let mut report = DayReport { day, entries: 0, links: self.links, unlinked: 0, problem: None };
        let mut first: Option<(String, Problem)> = None;
        for found in found {
            report.entries += 1;
            let covered = self.entries.remove(&found.covered.position);
            let of_link = of_link(&found.covered, covered.as_ref(), linked, now);
            report.unlinked += usize::from(of_link == Ok(false));
            if let Some(problem) = of_link.err().or_else(|| found.problem(now)) {
                first = first.or(Some((found.covered.position, problem)));
            }
        }
        let missing = self.entries.into_values().filter(|entry| entry.until > now.as_second()).min_by(|a, b| a.position.cmp(&b.position));
        let missing = missing.map(|entry| (entry.position.clone(), Problem::EntryMissing(entry.id().to_owned())));
        let of_entries = first.into_iter().chain(missing).min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, problem)| problem);
        report.problem = self.problem.or(of_entries);
        report
    }
}

/// Compares an entry with its latest record in a link. Returns `true` if the entry does not need
/// another link.
fn of_link(entry: &CoveredEntry, covered: Option<&CoveredEntry>, linked: &str, now: Timestamp) -> Result<bool, Problem> {
    let id = || entry.id().to_owned();
    let may_be_new = entry.position.as_str() > linked;
    match covered {
        Some(covered) if covered == entry => Ok(true),
        Some(covered) if !(may_be_new && entry.counts_on(covered)) => Err(Problem::EntryChanged(id())),
        _ if may_be_new && !entry.is_overdue(now) => Ok(false),
        // The link of an expired entry may also have expired, and expired entries are not linked.
        _ if entry.has_expired(now) => Ok(true),
        _ if may_be_new => Err(Problem::EntryOverdue(id())),
        _ => Err(Problem::EntryAdded(id())),
    }
}

impl FoundEntry {
    fn problem(&self, now: Timestamp) -> Option<Problem> {
        let id = || self.covered.id().to_owned();
        if self.is_misplaced {
            return Some(Problem::EntryMisplaced(id()));
        }
        (self.is_hidden && !self.covered.has_expired(now)).then(|| Problem::EntryHidden(id()))
    }
}

#[cfg(test)]
mod tests;
