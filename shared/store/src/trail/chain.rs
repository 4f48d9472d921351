//! The chain of links that shows whether a project's trail is complete ([`model::trail::chain`]).
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | link | `P#<P>#LINKS` | `LINK#<number>` | 2 units for each KB to write; about 130 bytes for each covered entry |
//! | head | the same | `HEAD` | 2 units to write with each link, 1 to read |
//!
//! A link is written on the condition that the head has not changed since it was read, so only one
//! of two concurrent workers succeeds. Links expire; the head is kept as long as the project
//! exists.

use std::collections::{BTreeSet, HashMap};

use crypto::digest::Digest;
use crypto::trail_keys::{Generation, Mac, NoSecret, TrailKeys};
use futures_util::future::try_join_all;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use model::trail::Entry;
pub use model::trail::chain::time_of;
use model::trail::chain::{CoveredEntry, Head, Link};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::ProjectId;

use crate::metrics::counters::Counters;
use crate::reseal::ResealResult;
use crate::table::transfer::write_item;
use crate::table::{self, Error, Item, Key, Store, Write, entity, number, sortable};
use crate::trail::{self, day_partitions, project_and_day};

const HEAD: &str = "HEAD";
const LINK: &str = "LINK#";
/// The number of links read at a time when only the last few are needed.
const LAST_LINKS: i32 = 20;

/// A link or a head with its message authentication code (MAC).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SignedItem<T> {
    /// The link or the head.
    #[serde(rename = "signed")]
    pub of: T,
    /// The MAC of the link or the head.
    pub mac: Mac,
}

/// The chain of a project.
#[derive(Clone, Copy)]
pub struct Chain<'a> {
    /// The project.
    pub project: &'a ProjectId,
    /// The keys that authenticate links and heads.
    pub keys: &'a TrailKeys,
}

/// An entry of a day.
pub struct DayEntry {
    /// The entry in the form in which links record it.
    pub covered: CoveredEntry,
    /// The entry itself; `None` if the entry cannot be parsed or does not fit its place in the
    /// table.
    pub entry: Option<Entry>,
    /// Whether the entry does not fit its place in the table.
    pub is_misplaced: bool,
}

/// Some entries of a day in the form in which links record them, and the position to continue from.
pub struct DayPage {
    /// The entries, in order.
    pub entries: Vec<DayEntry>,
    /// The position to continue from, if there are more entries.
    pub next: Option<String>,
}

pub(crate) fn partition(project: &ProjectId) -> String {
    format!("P#{project}#LINKS")
}

fn head_key(project: &ProjectId) -> Key {
    Key::new(partition(project), HEAD)
}

fn link_key(project: &ProjectId, number: u64) -> Key {
    Key::new(partition(project), format!("{LINK}{number:012}"))
}

/// The number of the link with this sort key; `None` for the sort key of another item.
pub(crate) fn number_of(sk: &str) -> Option<u64> {
    sk.strip_prefix(LINK)?.parse().ok()
}

/// The position before all entries at or after this time.
pub fn position_before(time: Timestamp) -> String {
    sortable(time)
}

/// A position moved back by a duration; empty if the position is malformed.
pub fn earlier(position: &str, by: SignedDuration) -> String {
    time_of(position).map(|time| sortable(after(time, -by))).unwrap_or_default()
}

/// The project whose trail, or whose links, this partition contains.
fn project_of_any(partition: &str) -> Option<ProjectId> {
    project_of(partition).or_else(|| project_of_links(partition))
}

fn project_of_links(partition: &str) -> Option<ProjectId> {
    ProjectId::parse(partition.strip_prefix("P#")?.strip_suffix("#LINKS")?).ok()
}

/// The project of this partition of a trail; `None` for other partitions in the table's stream.
pub fn project_of(partition: &str) -> Option<ProjectId> {
    project_and_day(partition).map(|(project, _)| project)
}

/// The form in which links record an entry.
fn covered(mut item: Item) -> Result<CoveredEntry, Error> {
    let lacks = |name: &str| Error::Refused(format!("a trail entry has no {name}"));
    let position = item.get("sk").and_then(|sk| sk.as_s().ok()).cloned().ok_or_else(|| lacks("sk"))?;
    let (count, until) = (number(&item, "n"), number(&item, table::TTL).unwrap_or_default());
    // Each additional counted event changes these attributes, so the digest excludes them.
    for name in ["n", "mark", table::TTL] {
        item.remove(name);
    }
    Ok(CoveredEntry { position, digest: Digest::of(&write_item(item)?), count, until })
}

fn day_entry(item: Item) -> Result<DayEntry, Error> {
    let (entry, fits) = trail::parse(item.clone()).map_or((None, true), |(entry, fits)| (Some(entry), fits));
    Ok(DayEntry { entry: entry.filter(|_| fits), is_misplaced: !fits, covered: covered(item)? })
}

fn no_secret(error: NoSecret) -> Error {
    Error::Refused(error.to_string())
}

impl Store {
    /// The head of a project's chain; `None` before the first link.
    pub async fn trail_head(&self, project: &ProjectId) -> Result<Option<SignedItem<Head>>, Error> {
        self.get(&head_key(project)).await?.map(entity).transpose()
    }

    /// Whether a project's chain has a head, even one that cannot be parsed.
    pub async fn has_trail_head(&self, project: &ProjectId) -> Result<bool, Error> {
        Ok(self.get(&head_key(project)).await?.is_some())
    }

    /// The head of a project's chain; fails with [`Error::Refused`] if these keys do not
    /// authenticate the head, or if it cannot be parsed.
    pub async fn authentic_head(&self, project: &ProjectId, keys: &TrailKeys) -> Result<Option<Head>, Error> {
        let forged = || {
            Error::Refused(format!(
                "the head of the trail of {project} was tampered with, or made with another deployment secret: run `gateway audit verify`"
            ))
        };
        match self.trail_head(project).await {
            Ok(Some(head)) if keys.verify(&head.of.text(project), &head.mac).is_none() => Err(forged()),
            Err(Error::Corrupt(_)) => Err(forged()),
            head => Ok(head?.map(|head| head.of)),
        }
    }

    /// Adds the link after `head`, and adds `counters` to the project's figures in the same
    /// transaction; fails with [`Error::Conflict`] if `head` already has a successor.
    pub async fn add_link(&self, of: &Chain<'_>, link: Link, head: Option<&Head>, counters: &Counters) -> Result<Head, Error> {
        let Chain { project, keys } = *of;
        let next = Head::of(&link);
        let (key, expires_at) = (link_key(project, link.number), link.expires_at);
        let link = SignedItem { mac: keys.sign(&link.text(project)).map_err(no_secret)?, of: link };
        let signed = SignedItem { mac: keys.sign(&next.text(project)).map_err(no_secret)?, of: &next };
        let link = Write::create(key, &link)?.expires(Timestamp::from_second(expires_at).unwrap_or(Timestamp::MAX));
        let write = match head {
            None => Write::create(head_key(project), &signed)?,
            Some(head) => Write::put(head_key(project), &signed)?.on("d.signed.digest = :digest").entity(":digest", &head.digest)?,
        };
        self.transact_unrecorded([link, write].into_iter().chain(counters.writes(project)).collect()).await?;
        Ok(next)
    }

    /// The entries covered by links whose watermark is at or after a position, each in the form
    /// recorded in the newest of these links.
    pub async fn covered_since(&self, project: &ProjectId, position: &str) -> Result<HashMap<String, CoveredEntry>, Error> {
        let mut found: HashMap<String, CoveredEntry> = HashMap::new();
        let mut pages = self.query_pages(self.links(project).scan_index_forward(false).limit(LAST_LINKS));
        while let Some(items) = pages.next().await? {
            for item in items {
                let link: SignedItem<Link> = entity(item)?;
                if link.of.watermark.as_str() < position {
                    return Ok(found);
                }
                for entry in link.of.entries {
                    found.entry(entry.position.clone()).or_insert(entry);
                }
            }
        }
        Ok(found)
    }

    /// All projects with entries or links, whether or not the project itself exists. Reads the
    /// whole table, at one unit for each 8 KB.
    pub async fn projects_with_trails(&self) -> Result<BTreeSet<ProjectId>, Error> {
        let (mut projects, mut from) = (BTreeSet::new(), None);
        loop {
            let (partitions, next) = self.partitions_with(["#TRAIL#", "#LINKS"], from).await?;
            projects.extend(partitions.iter().filter_map(|partition| project_of_any(partition)));
            from = next;
            if from.is_none() {
                return Ok(projects);
            }
        }
    }

    /// The query for all links, oldest first.
    pub(crate) fn links(&self, project: &ProjectId) -> aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder {
        self.query_prefix(partition(project), LINK)
    }

    /// The entries of a day after one position and up to another, in order, at most about a
    /// megabyte from each of the day's partitions.
    pub async fn day_of_trail(&self, project: &ProjectId, day: Date, after: &str, before: &str) -> Result<DayPage, Error> {
        // Positions begin with a digit, and digits sort after `!`.
        let after = if after.is_empty() { "!" } else { after };
        if after >= before {
            return Ok(DayPage { entries: Vec::new(), next: None });
        }
        let read = async |partition: String| {
            let (items, next) = self.query_page(self.query_range(partition, after, before)).await?;
            let entries: Vec<DayEntry> = items.into_iter().map(day_entry).collect::<Result<_, Error>>()?;
            Ok::<_, Error>((entries, next.is_some()))
        };
        let parts = try_join_all(day_partitions(project, day).map(read)).await?;
        // Beyond the first position at which a partition stopped, entries may be missing.
        let stops = parts.iter().filter(|(_, has_more)| *has_more).filter_map(|(entries, _)| entries.last());
        let next = stops.map(|entry| entry.covered.position.clone()).min();
        // The range includes its start, which belongs to the previous page.
        let is_of_page = |entry: &DayEntry| {
            let position = entry.covered.position.as_str();
            position != after && next.as_ref().is_none_or(|next| position <= next.as_str())
        };
        let mut entries: Vec<DayEntry> = parts.into_iter().flat_map(|(entries, _)| entries).filter(is_of_page).collect();
        entries.sort_unstable_by(|one, other| one.covered.position.cmp(&other.covered.position));
        Ok(DayPage { entries, next })
    }

    /// Replaces the MAC of a link or head if the MAC was made with the previous secret. Does
    /// nothing for all other items.
    pub async fn authenticate_anew(&self, keys: &TrailKeys, item: &Item) -> Result<ResealResult, Error> {
        let Some((key, text, mac)) = authenticated(item)? else { return Ok(ResealResult::default()) };
        let count = |anew: usize, current: usize| ResealResult { anew, current, lost: Vec::new() };
        match keys.verify(&text, &mac) {
            Some(Generation::Current) => Ok(count(0, 1)),
            Some(Generation::Previous) => {
                let write = Write::update(key, "SET d.mac = :new").on("d.mac = :old");
                let write = write.entity(":new", &keys.sign(&text).map_err(no_secret)?)?.entity(":old", &mac)?;
                match self.write_unrecorded(write).await {
                    // If the head has changed since, its new MAC was already made with the current
                    // secret.
                    Ok(()) | Err(Error::Conflict(_)) => Ok(count(1, 0)),
                    Err(error) => Err(error),
                }
            }
            None => Ok(ResealResult { lost: vec![format!("{} / {}, mac", key.pk, key.sk)], ..ResealResult::default() }),
        }
    }
}

/// The key of a link or head, the authenticated text, and its MAC. `None` for other items.
fn authenticated(item: &Item) -> Result<Option<(Key, String, Mac)>, Error> {
    let Some(key) = Key::of(item) else { return Ok(None) };
    let Some(project) = project_of_links(&key.pk) else { return Ok(None) };
    let (text, mac) = if key.sk == HEAD {
        let SignedItem { of, mac }: SignedItem<Head> = entity(item.clone())?;
        (of.text(&project), mac)
    } else {
        let SignedItem { of, mac }: SignedItem<Link> = entity(item.clone())?;
        (of.text(&project), mac)
    };
    Ok(Some((key, text, mac)))
}
