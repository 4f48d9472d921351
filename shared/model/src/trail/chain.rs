//! The chain of a project's trail: links that say which entries there are, each bound to the one before it, so that nobody takes an entry
//! away or changes one unseen.
//!
//! Entries are linked after they were written, by a worker, so that no request waits for another one's link. A link covers entries of one
//! day (UTC) in the order of time. Its digest covers everything in it and the digest of the link before, and it is authenticated by a key
//! that the table does not have. The head of a project says which link is the last. What happens shows as follows:
//!
//! | somebody | what shows it |
//! |---|---|
//! | takes away or changes an entry | the link that covers it |
//! | adds an entry to the past | no link covers it: entries that are older than [`OVERLAP`] when links have passed them are not linked any more |
//! | takes away or changes a link | the numbers and digests of those after it, or the head |
//! | puts an older head back, with fewer links | nothing in the table; but every link is logged, and `gateway audit verify --expect` takes what the log says |
//!
//! Links expire with their entries, and never before an older link does: what is left is always the end of the chain without a gap.

use crypto::digest::Digest;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::id::ProjectId;

/// How far before the last link entries are still looked for: longer than any request lives, by more than clocks of instances differ, and
/// than the minute in which failed sign-ins are counted.
pub const OVERLAP: SignedDuration = SignedDuration::from_mins(5);
/// How many entries a link covers at most: about 13 KB.
pub const MOST_ENTRIES: usize = 100;

/// An entry as a link covers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Where it is among the entries of its day, in order of time: its time and its id.
    pub position: String,
    /// SHA-256 of everything that it has but its count and its expiry.
    pub digest: Digest,
    /// Of what is counted by the minute, how often it had happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// When it expires, in seconds since the epoch.
    pub until: i64,
}

impl Covered {
    /// Whether this is the entry that `before` covers, counted on since: all that may ever change in an entry.
    pub fn counts_on(&self, before: &Self) -> bool {
        let has_more = self.count.zip(before.count).is_some_and(|(now, then)| now > then);
        has_more && self.digest == before.digest && self.position == before.position
    }

    /// The id of the entry, for people.
    pub fn id(&self) -> &str {
        self.position.split_once('#').map_or(&self.position, |(_, id)| id)
    }
}

/// A link. Fields are only ever added with a default that is not written: the digest is one of this as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// 1 for the first one of a project.
    pub number: u64,
    pub day: Date,
    pub entries: Vec<Covered>,
    /// The newest position that any link up to this one covers.
    pub watermark: String,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub linked_at: Timestamp,
    /// In seconds since the epoch: not before that of its last entry, nor of the link before.
    pub expires_at: i64,
    /// The digest of the link before; of the first one, that of the project's id.
    pub previous: Digest,
    /// When the link before expires, in seconds since the epoch.
    pub previous_expires_at: i64,
}

/// The last link of a project, and how far the chain goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub number: u64,
    pub digest: Digest,
    pub watermark: String,
    /// In seconds since the epoch.
    pub expires_at: i64,
}

/// What the first link of a project has in place of the digest of one before.
pub fn beginning(project: &ProjectId) -> Digest {
    Digest::of(project.as_str())
}

impl Link {
    /// The link of some entries of a day, in their order, after those that there are.
    pub fn after(head: Option<&Head>, project: &ProjectId, day: Date, entries: Vec<Covered>, now: Timestamp) -> Self {
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

    pub fn digest(&self) -> Digest {
        // A link has nothing that JSON cannot say.
        Digest::of_bytes(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// What is authenticated of it.
    pub fn text(&self, project: &ProjectId) -> String {
        format!("link {project} {}", self.digest())
    }
}

impl Head {
    pub fn of(link: &Link) -> Self {
        Self { number: link.number, digest: link.digest(), watermark: link.watermark.clone(), expires_at: link.expires_at }
    }

    /// What is authenticated of it.
    pub fn text(&self, project: &ProjectId) -> String {
        let Self { number, digest, watermark, expires_at } = self;
        format!("head {project} {number} {digest} {watermark} {expires_at}")
    }
}
