//! What an account remembers of what its addresses were told.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::email::Email;
use crate::notice::kind::Kind;

/// How many emails about one kind of change go at once in an hour.
pub const AT_ONCE: u32 = 4;

const WINDOW: SignedDuration = SignedDuration::from_hours(1);

/// How many spans of undone notices an account remembers; of more, the oldest two become one, which only ends links.
const MAX_UNDONE: usize = 20;

/// What an account remembers of its notices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notices {
    /// The number of the last one.
    #[serde(default)]
    latest: u64,
    /// The numbers of those that are undone, or of an era before the owner's: from and to, ascending.
    #[serde(default)]
    undone: Vec<(u64, u64)>,
    #[serde(default)]
    recent: Vec<Recent>,
    /// Since when addresses are verified that were not when the account was made.
    #[serde(default)]
    pub(crate) joined: Vec<Joined>,
}

/// Emails about one kind of change in an hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    kind: Kind,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    since: Timestamp,
    count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Joined {
    pub(crate) email: Email,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub(crate) at: Timestamp,
}

impl Notices {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The number that the next change gets.
    pub fn next(&self) -> u64 {
        self.latest + 1
    }

    /// Counts an email about changes of these kinds, and says when it goes; `None` when one that has not gone yet stands for it.
    pub fn admit(&mut self, kinds: &[Kind], now: Timestamp) -> Option<Timestamp> {
        self.recent.retain(|recent| now < after(recent.since, WINDOW));
        for kind in kinds {
            if !self.recent.iter().any(|recent| recent.kind == *kind) {
                self.recent.push(Recent { kind: *kind, since: now, count: 0 });
            }
        }
        let mut counted: Vec<&mut Recent> = self.recent.iter_mut().filter(|recent| kinds.contains(&recent.kind)).collect();
        let sent_at = if counted.iter().any(|recent| recent.count < AT_ONCE) {
            // Kinds that have used up theirs keep the email that stands for the rest.
            counted.iter_mut().filter(|recent| recent.count < AT_ONCE).for_each(|recent| recent.count += 1);
            now
        } else {
            let last = counted.into_iter().filter(|recent| recent.count == AT_ONCE).min_by_key(|recent| recent.since)?;
            last.count += 1;
            after(last.since, WINDOW)
        };
        self.latest += 1;
        Some(sent_at)
    }

    pub(crate) fn is_undone(&self, number: u64) -> bool {
        self.undone.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }

    pub(crate) fn undo(&mut self, from: u64) {
        self.latest = self.latest.max(from);
        self.undone.retain(|(first, _)| *first < from);
        self.undone.push((from, self.latest));
        if self.undone.len() > MAX_UNDONE {
            let (from, _) = self.undone.remove(0);
            self.undone[0].0 = from;
        }
    }

    /// Ends all links: the account has another owner. Links of sign-ins have the next number.
    pub(crate) fn end(&mut self) {
        self.latest = self.next();
        self.undone = vec![(0, self.latest)];
        self.joined.clear();
    }

    /// When the address was verified, if the account had it or another one before.
    pub fn joined_at(&self, email: &Email) -> Option<Timestamp> {
        self.joined.iter().find(|joined| joined.email == *email).map(|joined| joined.at)
    }
}
