//! The bodies of rendered emails, each in an item beside its entry.
//!
//! The item is written before the entry, so an entry that has bodies finds them. Its attribute
//! `version` is that of the entry for which it was rendered: a worker that was overtaken cannot
//! replace the bodies of a later rendering. Storing bodies costs one unit for each KB, as much
//! again if their expiry changes, and half a unit for each 4 KB when they are read; deleting them
//! is free. [`model::outbox::body`] explains when they expire.

use std::collections::HashMap;

use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::outbox::body::{Body, BodyChange};
use wire::id::{EmailId, ProjectId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, integer};
use crate::outbox::{OutboxRow, entry_key};
use crate::table;
use crate::write::Write;

/// The number of entries whose bodies are read at once.
const READS: usize = 100;

/// A write to the item with the bodies.
pub(crate) enum BodyWrite {
    /// Stores the bodies; a conflict means that they were rendered again in the meantime.
    Store(Write),
    /// Changes the expiry. If the item does not exist, there is nothing to change.
    Expire(Write),
}

fn body_key(project: &ProjectId, id: EmailId) -> Key {
    Key::new(entry_key(project, id).pk, "BODY")
}

impl BodyWrite {
    /// The write for a change that goes with a change of the entry in this row.
    pub(crate) fn of(row: &OutboxRow, change: BodyChange) -> Result<Self, Error> {
        let key = body_key(&row.project, row.entry.id);
        let expiring = |write: Write, set: &str, until: Option<Timestamp>| match until {
            Some(until) => write.expression(format!("SET {set}#ttl = :ttl")).value(":ttl", integer(until.as_second())),
            None if set.is_empty() => write.expression("REMOVE #ttl".to_owned()),
            None => write.expression(format!("SET {} REMOVE #ttl", set.trim_end_matches(", "))),
        };
        let write = Write::update(key, String::new()).name("#ttl", table::TTL);
        Ok(match change {
            BodyChange::Store(body, until) => {
                let write = expiring(write, "d = :d, version = :version, ", until).entity(":d", &body)?;
                let write = write.value(":version", integer(row.version));
                Self::Store(write.on("attribute_not_exists(version) OR version <= :version"))
            }
            BodyChange::Expire(until) => Self::Expire(expiring(write, "", until).on("attribute_exists(pk)")),
        })
    }
}

impl Store {
    /// Writes bodies, or their expiry; `Conflict` if the bodies were rendered again in the meantime.
    pub(crate) async fn write_body(&self, body: Option<BodyWrite>) -> Result<(), Error> {
        match body {
            None => Ok(()),
            Some(BodyWrite::Store(write)) => self.write_unrecorded(write).await,
            Some(BodyWrite::Expire(write)) => match self.write_unrecorded(write).await {
                Err(Error::Conflict(_)) => Ok(()),
                result => result,
            },
        }
    }

    /// The separately stored bodies of those entries that have some: one round trip for each
    /// hundred of them, and none if there are none.
    pub async fn bodies(
        &self,
        project: &ProjectId,
        entries: impl IntoIterator<Item = &OutboxEntry>,
        now: Timestamp,
    ) -> Result<HashMap<EmailId, Body>, Error> {
        let kept: Vec<EmailId> = entries.into_iter().filter(|entry| entry.has_kept_bodies(now)).map(|entry| entry.id).collect();
        let mut bodies = HashMap::new();
        for ids in kept.chunks(READS) {
            let mut items = self.get_many(ids.iter().map(|id| body_key(project, *id))).await?;
            for id in ids {
                if let Some(body) = items.entity::<Body>(&body_key(project, *id))? {
                    bodies.insert(*id, body);
                }
            }
        }
        Ok(bodies)
    }

    /// Adds their bodies to the entries, for display.
    pub async fn with_bodies(&self, project: &ProjectId, mut entries: Vec<OutboxEntry>, now: Timestamp) -> Result<Vec<OutboxEntry>, Error> {
        let mut bodies = self.bodies(project, &entries, now).await?;
        for entry in &mut entries {
            if let Some(body) = bodies.remove(&entry.id) {
                entry.join(body);
            }
        }
        Ok(entries)
    }
}
