//! Whether a chain of links is in order, and the entries of a day are those that it covers. Pure: whoever asks brings links and entries
//! in their order ([`store::trail::check`]).

use std::collections::{BTreeMap, HashMap};

use crypto::digest::Digest;
use crypto::trail_keys::{Mac, TrailKeys};
use jiff::Timestamp;
use jiff::civil::Date;
use wire::id::ProjectId;

use crate::trail::chain::{Covered, Head, Link, beginning};

/// What is wrong with a trail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("entry {0} is missing")]
    EntryMissing(String),
    #[error("entry {0} was changed")]
    EntryChanged(String),
    #[error("entry {0} is in no link: it was added later, or its link was removed")]
    EntryAdded(String),
    #[error("link {0} is missing")]
    LinkMissing(u64),
    #[error("link {0} was changed, or made with another deployment secret")]
    LinkChanged(u64),
    #[error("link {0} does not follow the one before it")]
    LinkMoved(u64),
    #[error("the head of the chain is missing")]
    HeadMissing,
    #[error("the head of the chain was changed, or made with another deployment secret")]
    HeadChanged,
    #[error("the head of the chain is not its last link {0}")]
    HeadMoved(u64),
    #[error("link {0} is not the one that was expected, or has expired")]
    Unexpected(u64),
}

/// A link that somebody wrote down elsewhere, as the log has each: it has to be there still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub number: u64,
    pub digest: Digest,
}

/// How a day is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayReport {
    pub day: Date,
    pub entries: usize,
    pub links: usize,
    /// Entries that are too new to be linked.
    pub unlinked: usize,
    /// The first thing that is wrong.
    pub problem: Option<Problem>,
}

/// Follows a chain link by link.
pub struct Chain<'a> {
    project: &'a ProjectId,
    keys: &'a TrailKeys,
    now: Timestamp,
    /// What the head would be if the chain ended here.
    last: Option<Head>,
    expected: Option<Expected>,
    /// The days that were seen, as their links cover them.
    days: BTreeMap<Date, CoveredDay>,
}

/// What links cover of a day.
#[derive(Debug, Default)]
pub struct CoveredDay {
    entries: HashMap<String, Covered>,
    links: usize,
    problem: Option<Problem>,
}

impl<'a> Chain<'a> {
    pub fn new(project: &'a ProjectId, keys: &'a TrailKeys, expected: Option<Expected>, now: Timestamp) -> Self {
        Self { project, keys, now, last: None, expected, days: BTreeMap::new() }
    }

    /// Takes the link of the next number; `None` is one that cannot be read. Says whether it is authentic.
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

    /// The number of the last link that was taken.
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
            // What expires does so in order: everything before the link may be gone if the one before it may.
            let may_be_gone = link.previous_expires_at <= self.now.as_second();
            return (!may_be_gone).then(|| self.missing_before(number));
        }
        let expected = self.last.as_ref().map_or_else(|| beginning(self.project), |last| last.digest.clone());
        (link.previous != expected).then_some(Problem::LinkMoved(number))
    }

    /// The number after the last one.
    fn next(&self) -> u64 {
        self.last.as_ref().map_or(1, |last| last.number + 1)
    }

    /// The first link that is known to be missing before this number.
    fn missing_before(&self, number: u64) -> Problem {
        let is_next = self.last.as_ref().is_some_and(|last| last.expires_at > self.now.as_second());
        Problem::LinkMissing(if is_next { self.next() } else { number.saturating_sub(1) })
    }

    /// What links cover of the days up to this one; nothing more is to come of them.
    pub fn days_before(&mut self, day: Date) -> BTreeMap<Date, CoveredDay> {
        let rest = self.days.split_off(&day);
        std::mem::replace(&mut self.days, rest)
    }

    /// Ends the chain: whether the head is its last link, and what was expected was there.
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

    /// A link that was written down elsewhere and is not there, though it is newer than what may have expired.
    fn unexpected(&self, head: Option<(&Head, &Mac)>) -> Option<Problem> {
        let expected = self.expected.as_ref()?;
        let is_of_head = head.is_some_and(|(head, _)| head.number == expected.number && head.digest == expected.digest);
        (!is_of_head).then_some(Problem::Unexpected(expected.number))
    }
}

impl CoveredDay {
    /// Compares what is covered with the entries that there are, in their order. Entries after `fresh` need no link yet.
    pub fn check(mut self, day: Date, found: impl IntoIterator<Item = Covered>, fresh: &str, now: Timestamp) -> DayReport {
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
                // Its link may be gone.
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
