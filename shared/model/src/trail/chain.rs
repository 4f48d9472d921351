//! The chain of a project's trail: links record which entries exist, and each link is bound to the
//! previous one, so that nobody can remove or change an entry unnoticed.
//!
//! A worker links entries after they are written, so requests do not wait for one another. A link
//! covers entries of one day (UTC) in chronological order. The link's digest covers its whole
//! content, including the digest of the previous link. The link is authenticated with a key that is
//! not stored in the table. A project's head records the last link. Tampering is detected as
//! follows:
//!
//! | tampering | detected by |
//! |---|---|
//! | an entry is removed or changed | the link that covers it |
//! | the time that an entry states is changed before it is linked | the time in its key |
//! | an entry is added to the past | no link covers it: the worker ignores entries that are more than [`OVERLAP`] older than the latest linked entry |
//! | a link is removed or changed | the numbers and digests of later links, or the head |
//! | all links are removed | entries that are older than [`MAX_LAG`] have no link; the worker links them, but each of these links was made too late |
//! | an older head is restored, with fewer links | not in DynamoDB; but every link is logged, and `gateway audit verify --expect` compares the chain with a logged link |
//!
//! A link expires together with its last entry, and never before an earlier link. The unexpired
//! links are therefore always the end of the chain, without gaps.

use crypto::digest::Digest;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::ProjectId;

/// How far before the latest linked entry the worker still looks for new entries. Entries may be
/// late by the duration of the longest request, plus the largest difference between the clocks of
/// instances, plus the minute over which events are counted.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(5);
/// The maximum time between an entry and its link: the table's stream keeps a change for a day, and
/// the remaining two hours are for the work itself. A later link may mean that no worker ran for
/// that long, or that someone removed the earlier links that covered the entries.
pub const MAX_LAG: SignedDuration = SignedDuration::from_hours(26);
/// The maximum number of entries in a link, which then takes about 13 KB.
pub const MAX_ENTRIES: usize = 100;

/// An entry as recorded in a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredEntry {
    /// The position of the entry in the chronological order of its day: the entry's time and id.
    pub position: String,
    /// SHA-256 of the entry without the attributes that change when another event is counted, such
    /// as the count and the expiry.
    pub digest: Digest,
    /// How many times the event had happened, for an entry that counts events per minute; absent
    /// for all other entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When the entry expires, in seconds since the Unix epoch; 0 if someone has removed the
    /// expiry.
    pub until: i64,
}

impl CoveredEntry {
    /// Whether this entry is the entry recorded in `before`, but with a higher count. Only the
    /// count and the expiry of an entry may ever change.
    pub fn counts_on(&self, before: &Self) -> bool {
        let has_more = self.count.zip(before.count).is_some_and(|(now, then)| now > then);
        has_more && self.digest == before.digest && self.position == before.position
    }

    /// The time in the entry's position; `None` if the position is malformed.
    pub fn at(&self) -> Option<Timestamp> {
        time_of(&self.position)
    }

    /// Whether the entry is so old that it must be in a link ([`MAX_LAG`]).
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.at().is_none_or(|at| after(at, MAX_LAG) < now)
    }

    /// Whether the entry has expired, so that it may have been deleted.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.until != 0 && self.until <= now.as_second()
    }

    /// The id of the entry, for display.
    pub fn id(&self) -> &str {
        self.position.split_once('#').map_or(&self.position, |(_, id)| id)
    }
}

/// The time of a position; `None` if the position is malformed.
pub fn time_of(position: &str) -> Option<Timestamp> {
    Timestamp::from_millisecond(position.split('#').next()?.parse().ok()?).ok()
}

/// A link. New fields need a default value that is not serialized, because the digest is computed
/// from the JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The number of the link; 1 for the first link of a project.
    pub number: u64,
    /// The day of the link's entries (UTC).
    pub day: Date,
    /// The entries, in chronological order.
    pub entries: Vec<CoveredEntry>,
    /// The latest position covered by any link up to this link.
    pub watermark: String,
    /// When the link was made.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub linked_at: Timestamp,
    /// When the link expires, in seconds since the Unix epoch. A link does not expire before its
    /// last entry or the previous link.
    pub expires_at: i64,
    /// The digest of the previous link; in the first link, the digest of the project's id.
    pub previous: Digest,
    /// When the previous link expires, in seconds since the Unix epoch; 0 in the first link.
    pub previous_expires_at: i64,
}

/// The last link of a project, and the latest position that the chain covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last link.
    pub number: u64,
    /// The digest of the last link.
    pub digest: Digest,
    /// The latest covered position.
    pub watermark: String,
    /// When the last link expires, in seconds since the Unix epoch.
    pub expires_at: i64,
}

/// The digest that the first link of a project contains in place of a previous link's digest.
pub fn beginning(project: &ProjectId) -> Digest {
    Digest::of(project.as_str())
}

impl Link {
    /// The link after `head`, or the first link of the project if there is no head. The link covers
    /// these entries of a day, which must be in chronological order.
    pub fn after(head: Option<&Head>, project: &ProjectId, day: Date, entries: Vec<CoveredEntry>, now: Timestamp) -> Self {
        let (last, until) = (entries.last().map(|entry| entry.position.clone()), entries.iter().map(|entry| entry.until).max());
        let before = head.map(|head| head.watermark.clone());
        let previous_expires_at = head.map_or(0, |head| head.expires_at);
        Self {
            number: head.map_or(0, |head| head.number) + 1,
            day,
            entries,
            watermark: last.max(before).unwrap_or_default(),
            linked_at: now,
            expires_at: until.unwrap_or_default().max(previous_expires_at),
            previous: head.map_or_else(|| beginning(project), |head| head.digest.clone()),
            previous_expires_at,
        }
    }

    /// Whether the link was made too late for at least one of its entries that have not expired
    /// ([`MAX_LAG`]).
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.entries.iter().any(|entry| !entry.has_expired(now) && entry.is_overdue(self.linked_at))
    }

    /// The digest of this link, which the next link and the head contain.
    pub fn digest(&self) -> Digest {
        // All fields of a link can be serialized as JSON.
        Digest::from_bytes(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The text that the link's MAC authenticates.
    pub fn text(&self, project: &ProjectId) -> String {
        format!("link {project} {}", self.digest())
    }
}

impl Head {
    /// The head of a chain that ends with this link.
    pub fn of(link: &Link) -> Self {
        Self { number: link.number, digest: link.digest(), watermark: link.watermark.clone(), expires_at: link.expires_at }
    }

    /// The text that the head's MAC authenticates.
    pub fn text(&self, project: &ProjectId) -> String {
        let Self { number, digest, watermark, expires_at } = self;
        format!("head {project} {number} {digest} {watermark} {expires_at}")
    }
}
