//! The bodies of rendered emails, each in an item beside its entry.
//!
//! The item is written before the entry. Its attribute `version` is that of the entry for which it
//! was rendered: a worker that was overtaken cannot replace the bodies of a later rendering.
//! Storing bodies costs one unit for each KB, as much again if their expiry changes, and one unit
//! for each 4 KB when they are read; deleting them is free. [`model::outbox::body`] explains when
//! they expire.

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

fn body_key(project: &ProjectId, id: EmailId) -> Key {
    Key::new(entry_key(project, id).pk, "BODY")
}

/// A change to the item with the bodies, which goes with a change of the entry in this row. A
/// conflict means that the bodies are those of a later rendering, or do not exist.
pub(crate) fn body_write(row: &OutboxRow, change: BodyChange) -> Result<Write, Error> {
    let is_not_later = "(attribute_not_exists(version) OR version <= :version)";
    let update = |expression, until: Timestamp| {
        let write = Write::update(body_key(&row.project, row.entry.id), expression).name("#ttl", table::TTL);
        write.value(":ttl", integer(until.as_second())).value(":version", integer(row.version))
    };
    match change {
        BodyChange::Store(body, until) => update("SET d = :d, version = :version, #ttl = :ttl", until).on(is_not_later).entity(":d", &body),
        BodyChange::Expire(until) => Ok(update("SET #ttl = :ttl", until).on(format!("attribute_exists(pk) AND {is_not_later}"))),
    }
}

impl Store {
    /// Changes the item with the bodies before its entry. A conflict is no error: if the bodies are
    /// those of a later rendering, the write of the entry fails; if there are none, nothing
    /// expires.
    pub(crate) async fn write_body(&self, body: Option<Write>) -> Result<(), Error> {
        let Some(body) = body else { return Ok(()) };
        match self.write_unrecorded(body).await {
            Err(Error::Conflict(_)) => Ok(()),
            result => result,
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
                match items.entity::<Body>(&body_key(project, *id)) {
                    Ok(body) => bodies.extend(body.map(|body| (*id, body))),
                    Err(error) => tracing::error!(%error, %id, "the bodies of an email cannot be parsed"),
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
