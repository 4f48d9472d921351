//! The links of a project's trail ([`model::trail::chain`]).
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | link | `P#<P>#LINKS` | `LINK#<number>` | 2 units for each KB to write, about 130 bytes for each entry |
//! | head | the same | `HEAD` | 2 units to write with each link, 1 to read |
//!
//! A link is written on the condition that the head is still the one that it follows, so that of two workers one goes on. Links expire; a
//! head is kept as long as its project.

use std::collections::HashMap;

use crypto::digest::Digest;
use crypto::trail_keys::{Generation, Mac, NoSecret, TrailKeys};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use model::trail::chain::{Covered, Head, Link};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, key_of, number, sortable, string};
use crate::reseal::Resealed;
use crate::table;
use crate::trail::day_partition;
use crate::transfer::write_item;
use crate::write::Write;

const HEAD: &str = "HEAD";
const LINK: &str = "LINK#";
/// How many links are read at once where the last few are wanted.
const LAST_LINKS: i32 = 20;

/// A link or a head with its authentication code.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Signed<T> {
    #[serde(rename = "signed")]
    pub of: T,
    pub mac: Mac,
}

/// Some entries of a day as a link would cover them, and the position after which there are more.
pub struct DayPage {
    pub entries: Vec<Covered>,
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

/// The number of the link at a sort key.
pub(crate) fn number_of(sk: &str) -> Option<u64> {
    sk.strip_prefix(LINK)?.parse().ok()
}

/// The position before everything that happened at a time or later.
pub fn position_before(time: Timestamp) -> String {
    sortable(time)
}

/// The time of a position.
pub fn time_of(position: &str) -> Option<Timestamp> {
    Timestamp::from_millisecond(position.split('#').next()?.parse().ok()?).ok()
}

/// A position that is earlier by some time.
pub fn earlier(position: &str, by: SignedDuration) -> String {
    time_of(position).map(|time| sortable(after(time, -by))).unwrap_or_default()
}

/// The project of an entry's partition, as the table's stream names it.
pub fn project_of(partition: &str) -> Option<ProjectId> {
    let (project, day) = partition.strip_prefix("P#")?.split_once("#TRAIL#")?;
    day.parse::<Date>().ok()?;
    ProjectId::parse(project).ok()
}

/// An entry as a link covers it.
fn covered(mut item: Item) -> Result<Covered, Error> {
    let lacks = |name: &str| Error::Refused(format!("an entry of the trail has no {name}"));
    let position = item.get("sk").and_then(|sk| sk.as_s().ok()).cloned().ok_or_else(|| lacks("sk"))?;
    let (count, until) = (number(&item, "n"), number(&item, table::TTL).unwrap_or_default());
    // What changes when something is counted again.
    for name in ["n", "mark", table::TTL] {
        item.remove(name);
    }
    Ok(Covered { position, digest: Digest::of(&write_item(item)?), count, until })
}

fn no_secret(error: NoSecret) -> Error {
    Error::Refused(error.to_string())
}

impl Store {
    /// The head of a project's chain; none before its first link.
    pub async fn trail_head(&self, project: &ProjectId) -> Result<Option<Signed<Head>>, Error> {
        self.get(&head_key(project)).await?.map(entity).transpose()
    }

    /// Adds the link that follows `head`, unless another one does: then it is [`Error::Conflict`].
    pub async fn add_link(&self, project: &ProjectId, keys: &TrailKeys, link: Link, head: Option<&Head>) -> Result<Head, Error> {
        let next = Head::of(&link);
        let (key, expires_at) = (link_key(project, link.number), link.expires_at);
        let link = Signed { mac: keys.sign(&link.text(project)).map_err(no_secret)?, of: link };
        let signed = Signed { mac: keys.sign(&next.text(project)).map_err(no_secret)?, of: &next };
        let link = Write::create(key, &link)?.expires(Timestamp::from_second(expires_at).unwrap_or(Timestamp::MAX));
        let write = match head {
            None => Write::create(head_key(project), &signed)?,
            Some(head) => Write::put(head_key(project), &signed)?.on("d.signed.digest = :digest").entity(":digest", &head.digest)?,
        };
        self.transact_unrecorded(vec![link, write]).await?;
        Ok(next)
    }

    /// Entries from a position on that links cover, as the last of them do.
    pub async fn covered_since(&self, project: &ProjectId, position: &str) -> Result<HashMap<String, Covered>, Error> {
        let (mut found, mut from): (HashMap<String, Covered>, _) = (HashMap::new(), None);
        loop {
            let query = self.links(project).scan_index_forward(false).limit(LAST_LINKS).set_exclusive_start_key(from);
            let (items, next) = self.query_page(query).await?;
            for item in items {
                let link: Signed<Link> = entity(item)?;
                if link.of.watermark.as_str() < position {
                    return Ok(found);
                }
                for entry in link.of.entries {
                    found.entry(entry.position.clone()).or_insert(entry);
                }
            }
            from = next;
            if from.is_none() {
                return Ok(found);
            }
        }
    }

    /// The query of all links, oldest first.
    pub(crate) fn links(&self, project: &ProjectId) -> aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder {
        self.query()
            .key_condition_expression("pk = :pk AND begins_with(sk, :link)")
            .expression_attribute_values(":pk", string(partition(project)))
            .expression_attribute_values(":link", string(LINK))
            .consistent_read(true)
    }

    /// Entries of a day after a position and before another one, in order, about a megabyte of them.
    pub async fn day_of_trail(&self, project: &ProjectId, day: Date, after: &str, before: &str) -> Result<DayPage, Error> {
        // Positions begin with a digit, which is after this.
        let after = if after.is_empty() { "!" } else { after };
        if after >= before {
            return Ok(DayPage { entries: Vec::new(), next: None });
        }
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND sk BETWEEN :after AND :before")
            .expression_attribute_values(":pk", string(day_partition(project, day)))
            .expression_attribute_values(":after", string(after))
            .expression_attribute_values(":before", string(before))
            .consistent_read(true);
        let (items, next) = self.query_page(query).await?;
        let entries: Vec<Covered> = items.into_iter().map(covered).collect::<Result<_, _>>()?;
        let next = next.and_then(|_| entries.last().map(|entry| entry.position.clone()));
        // The range has its beginning in it, which is of the page before.
        Ok(DayPage { entries: entries.into_iter().filter(|entry| entry.position != after).collect(), next })
    }

    /// Makes the authentication code of a link or a head anew when it is of the previous secret. Other items have none.
    pub async fn authenticate_anew(&self, keys: &TrailKeys, item: &Item) -> Result<Resealed, Error> {
        let Some((key, text, mac)) = authenticated(item)? else { return Ok(Resealed::default()) };
        let count = |anew: usize, current: usize| Resealed { anew, current, lost: Vec::new() };
        match keys.verify(&text, &mac) {
            Some(Generation::Current) => Ok(count(0, 1)),
            Some(Generation::Previous) => {
                let write = Write::update(key, "SET d.mac = :new").on("d.mac = :old");
                let write = write.entity(":new", &keys.sign(&text).map_err(no_secret)?)?.entity(":old", &mac)?;
                match self.write_unrecorded(write).await {
                    // A head that moved on meanwhile is of the current secret.
                    Ok(()) | Err(Error::Conflict(_)) => Ok(count(1, 0)),
                    Err(error) => Err(error),
                }
            }
            None => Ok(Resealed { lost: vec![format!("{} / {}, mac", key.pk, key.sk)], ..Resealed::default() }),
        }
    }
}

/// The key of a link or a head, what is authenticated of it, and its authentication code.
fn authenticated(item: &Item) -> Result<Option<(Key, String, Mac)>, Error> {
    let Some(key) = key_of(item) else { return Ok(None) };
    let project = key.pk.strip_prefix("P#").and_then(|rest| rest.strip_suffix("#LINKS")).and_then(|id| ProjectId::parse(id).ok());
    let Some(project) = project else { return Ok(None) };
    let (text, mac) = if key.sk == HEAD {
        let Signed { of, mac }: Signed<Head> = entity(item.clone())?;
        (of.text(&project), mac)
    } else {
        let Signed { of, mac }: Signed<Link> = entity(item.clone())?;
        (of.text(&project), mac)
    };
    Ok(Some((key, text, mac)))
}
