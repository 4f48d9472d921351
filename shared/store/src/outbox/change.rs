//! Changes to an outbox entry and the bodies of its email.

use aws_sdk_dynamodb::types::AttributeValue;
use model::outbox::{OutboxEntry, Source};

use crate::outbox::transition::OutboxMove;
use crate::outbox::work::{self, WorkPosition};
use crate::outbox::{OutboxRow, entry_key};
use crate::table::{Error, Item, Store, Write, integer, string};

/// Writes an entry on the condition that its version has not changed. Only the fields that differ
/// are written, so changing the status does not write the texts again. The bodies must be written
/// first ([`Store::write_bodies`]).
pub(crate) fn replaced(OutboxMove { row, next, .. }: &OutboxMove) -> Result<Write, Error> {
    let Changes { set, removed } = Changes::of(&row.entry, next)?;
    let mut write = Write::update(entry_key(&row.project, next.id), String::new())
        .on("version = :old")
        .value(":old", integer(row.version))
        .value(":new", integer(row.version + 1));
    let mut sets = vec!["version = :new".to_owned()];
    let mut removes = Vec::new();
    for (number, (field, value)) in set.into_iter().enumerate() {
        sets.push(format!("d.#set{number} = :set{number}"));
        write = write.name(&format!("#set{number}"), &field).value(&format!(":set{number}"), value);
    }
    for (number, field) in removed.into_iter().enumerate() {
        removes.push(format!("d.#removed{number}"));
        write = write.name(&format!("#removed{number}"), &field);
    }
    match work::waiting(&row.project, next) {
        Some(WorkPosition { partition, position }) => {
            sets.push("gsi2pk = :workpk, gsi2sk = :worksk".to_owned());
            write = write.value(":workpk", string(partition)).value(":worksk", string(position));
        }
        None => removes.push("gsi2pk, gsi2sk".to_owned()),
    }
    let removes = if removes.is_empty() { String::new() } else { format!(" REMOVE {}", removes.join(", ")) };
    Ok(write.expression(format!("SET {}{removes}", sets.join(", "))))
}

/// The fields in which two states of an entry differ.
struct Changes {
    set: Vec<(String, AttributeValue)>,
    removed: Vec<String>,
}

impl Changes {
    fn of(old: &OutboxEntry, new: &OutboxEntry) -> Result<Self, Error> {
        // Unchanged texts are left out first, because serialization would compress them needlessly.
        let (is_same_source, is_same_mail) = (old.source == new.source, old.rendered == new.rendered);
        let fields = |entry: &OutboxEntry| -> Result<Item, Error> {
            let mut entry = entry.clone();
            if is_same_source {
                entry.source = Source::default();
            }
            if is_same_mail {
                entry.rendered = None;
            }
            Ok(serde_dynamo::to_item(entry)?)
        };
        let (mut old, new) = (fields(old)?, fields(new)?);
        let set = new.into_iter().filter(|(name, value)| old.remove(name).as_ref() != Some(value)).collect();
        Ok(Self { set, removed: old.into_keys().collect() })
    }
}

impl Store {
    /// Writes the transition of one entry and returns the entry in its new state; `Conflict` if the
    /// entry has changed since it was read.
    pub async fn move_outbox_entry(&self, one: OutboxMove) -> Result<OutboxRow, Error> {
        self.write_bodies(&one).await?;
        self.write(replaced(&one)?).await?;
        Ok(one.made())
    }
}
