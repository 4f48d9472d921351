//! The state of an account's change notices. Change notices are emails that report changes to how
//! the user signs in, and contain links to undo the changes. Notices about a team's API keys are
//! limited in the same way.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::email::Email;
use crate::email::notice::Kind;

/// How many notices of one kind of change are sent immediately within an hour.
pub const AT_ONCE: u32 = 4;

const WINDOW: SignedDuration = SignedDuration::from_hours(1);

/// The maximum number of ranges of undone changes in an account. Beyond this number, the two oldest
/// ranges are merged, which also invalidates the links of the changes between the two ranges.
const MAX_UNDONE: usize = 20;

/// The maximum number of released addresses that are remembered.
const MAX_RELEASED: usize = 50;

/// The state of an account's change notices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notices {
    /// The highest number of a change so far. The number belongs to the latest change with a
    /// scheduled or sent notice, to an undone sign-in, or to a change of the account's owner.
    #[serde(default)]
    latest: u64,
    /// Inclusive ranges (from, to) of undone changes, or of changes from before the current owner,
    /// in ascending order.
    #[serde(default)]
    undone: Vec<(u64, u64)>,
    #[serde(default)]
    recent: Vec<RecentNotices>,
    /// The times at which addresses were verified. Addresses that were verified when the account
    /// was created or got a new owner, or by an earlier version, are not included.
    #[serde(default)]
    pub(crate) joined: Vec<JoinedAddress>,
    /// Addresses that their recipients removed from the account and that have not been verified in
    /// the account since. There are at most [`MAX_RELEASED`], with the latest last. Only a link
    /// that was sent to a removed address restores that address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) released: Vec<Email>,
}

/// The notices of one kind of change within an hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RecentNotices {
    kind: Kind,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    since: Timestamp,
    count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JoinedAddress {
    pub(crate) email: Email,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub(crate) at: Timestamp,
}

impl Notices {
    /// Whether the state is empty, so that the field need not be stored.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The number of the next change.
    pub fn next(&self) -> u64 {
        self.latest + 1
    }

    /// Counts a notice about changes of these kinds, and returns when to send it; `None` if a
    /// notice that is already scheduled covers the changes.
    pub fn admit(&mut self, kinds: &[Kind], now: Timestamp) -> Option<Timestamp> {
        self.recent.retain(|recent| now < after(recent.since, WINDOW));
        let kinds: Vec<Kind> = kinds.iter().map(|kind| kind.counted_as()).collect();
        for kind in &kinds {
            if !self.recent.iter().any(|recent| recent.kind == *kind) {
                self.recent.push(RecentNotices { kind: *kind, since: now, count: 0 });
            }
        }
        let mut counted: Vec<&mut RecentNotices> = self.recent.iter_mut().filter(|recent| kinds.contains(&recent.kind)).collect();
        let sent_at = if counted.iter().any(|recent| recent.count < AT_ONCE) {
            // Only kinds below their limit are counted, so that the other kinds can still get a
            // notice at the end of the hour.
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

    /// Records that the person who receives the emails of an address removed the address from the
    /// account.
    pub(crate) fn release(&mut self, email: Email) {
        self.released.retain(|released| *released != email);
        self.released.push(email);
        if self.released.len() > MAX_RELEASED {
            self.released.remove(0);
        }
    }

    /// Invalidates all links, because the account may have a new owner. Links with the next number
    /// become invalid as well, because sign-in notices use that number without advancing the
    /// counter.
    pub(crate) fn end(&mut self) {
        self.latest = self.next();
        self.undone = vec![(0, self.latest)];
        self.joined.clear();
        self.released.clear();
    }

    /// When the address was verified; `None` if the address is not verified, or if the time is not
    /// recorded (see `joined`).
    pub fn joined_at(&self, email: &Email) -> Option<Timestamp> {
        self.joined.iter().find(|joined| joined.email == *email).map(|joined| joined.at)
    }
}
