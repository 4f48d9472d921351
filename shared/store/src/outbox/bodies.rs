//! The bodies of rendered emails, each in an item separate from its entry.
//!
//! The bodies are written before the entry. The attribute `version` of their item is the version of
//! the entry for which the bodies were rendered, so a worker that falls behind cannot replace the
//! bodies of a later rendering. Storing bodies costs one unit for each KB, and changing their
//! expiry costs the same. Reading bodies costs one unit for each 4 KB, and deleting bodies is free.
//! [`model::outbox::body`] explains when the bodies expire.

use jiff::Timestamp;
use model::outbox::OutboxEntry;
use model::outbox::body::{Body, BodyChange};
use wire::id::{EmailId, ProjectId};

use crate::outbox::transition::OutboxMove;
use crate::outbox::{OutboxRow, entry_key};
use crate::table::{self, Error, Key, Store, Write, integer};

/// The maximum number of entries whose bodies are read at a time.
const READS: usize = 100;

fn body_key(project: &ProjectId, id: EmailId) -> Key {
    Key::new(entry_key(project, id).pk, "BODY")
}

/// The write that makes a change to the bodies. A conflict means that the bodies are from a later
/// rendering, or do not exist.
fn body_write(row: &OutboxRow, change: &BodyChange) -> Result<Write, Error> {
    let is_not_later = "(attribute_not_exists(version) OR version <= :version)";
    let update = |expression, until: Timestamp| {
        let write = Write::update(body_key(&row.project, row.entry.id), expression).name("#ttl", table::TTL);
        write.value(":ttl", integer(until.as_second())).value(":version", integer(row.version))
    };
    match change {
        BodyChange::Store(body, until) => update("SET d = :d, version = :version, #ttl = :ttl", *until).on(is_not_later).entity(":d", body),
        BodyChange::Expire(until) => Ok(update("SET #ttl = :ttl", *until).on(format!("attribute_exists(pk) AND {is_not_later}"))),
    }
}

impl Store {
    /// Changes the bodies, if the change to their entry requires it. A conflict is not an error: if
    /// the bodies are from a later rendering, writing the entry fails; if the bodies do not exist,
    /// nothing expires.
    pub(crate) async fn write_bodies(&self, OutboxMove { row, next, bodies }: &OutboxMove) -> Result<(), Error> {
        let Some(change) = bodies else { return Ok(()) };
        match self.write_unrecorded(body_write(row, change)?).await {
            Ok(()) | Err(Error::Conflict(_)) => Ok(()),
            Err(error) => {
                tracing::warn!(%error, id = %next.id, "the bodies of an email could not be written");
                Err(error)
            }
        }
    }

    /// The separately stored bodies of these emails, in the same order; `None` for an email without
    /// them. Costs one round trip for each hundred emails, and no round trip without emails.
    pub async fn bodies(&self, project: &ProjectId, ids: &[EmailId]) -> Result<Vec<Option<Body>>, Error> {
        let mut bodies = Vec::with_capacity(ids.len());
        for ids in ids.chunks(READS) {
            let mut items = self.get_many(ids.iter().map(|id| body_key(project, *id))).await?;
            for id in ids {
                let body = items.entity::<Body>(&body_key(project, *id));
                bodies.push(body.unwrap_or_else(|error| {
                    tracing::error!(%error, %id, "the bodies of an email cannot be parsed");
                    None
                }));
            }
        }
        Ok(bodies)
    }

    /// Adds the bodies to the entries, for display.
    pub async fn with_bodies(&self, project: &ProjectId, mut entries: Vec<OutboxEntry>, now: Timestamp) -> Result<Vec<OutboxEntry>, Error> {
        let mut kept: Vec<&mut OutboxEntry> = entries.iter_mut().filter(|entry| entry.has_kept_bodies(now)).collect();
        let ids: Vec<EmailId> = kept.iter().map(|entry| entry.id).collect();
        for (entry, body) in kept.iter_mut().zip(self.bodies(project, &ids).await?) {
            if let Some(body) = body {
                entry.join(body);
            }
        }
        Ok(entries)
    }
}
