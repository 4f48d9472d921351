//! Emails of the service with the codes that they carry: sealed when the entry of the outbox is written, opened by the worker that sends it.
//! Why, and what everybody else sees, is in [`outbox_codes`](model::outbox::codes).

use std::collections::BTreeMap;

use crypto::seal;
use jiff::Timestamp;
use model::outbox::codes::{Coded, owner};
use model::outbox::{NewEntry, OutboxEntry};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use wire::id::{EmailId, ProjectId};

use crate::app::App;

/// A new entry whose variables are those of `new` and these, which carry codes.
pub fn entry(
    app: &App,
    project: &ProjectId,
    mut new: NewEntry,
    coded: impl IntoIterator<Item = Coded>,
    now: Timestamp,
) -> Result<OutboxEntry, store::Error> {
    let id = EmailId::from(app.entropy.uuid());
    let mut codes = BTreeMap::new();
    for Coded { name, value, shown } in coded {
        let owner = owner(project.as_str(), &id.to_string(), name);
        let sealed = app.sealer.seal(&app.entropy, &owner, &SecretString::from(value));
        codes.insert(name.to_owned(), sealed.map_err(|error| store::Error::Refused(error.to_string()))?);
        new.variables.insert(name.to_owned(), Value::String(shown));
    }
    Ok(OutboxEntry { codes: Some(codes), ..OutboxEntry::new(id, new, now) })
}

/// The variables of an entry with its codes in clear, for its recipient alone.
pub fn opened(app: &App, project: &ProjectId, entry: &OutboxEntry) -> Result<Map<String, Value>, seal::Error> {
    let mut variables = entry.variables.clone();
    for (name, sealed) in entry.codes.iter().flatten() {
        let value = app.sealer.open(&owner(project.as_str(), &entry.id.to_string(), name), sealed)?;
        variables.insert(name.clone(), Value::String(value.expose_secret().to_owned()));
    }
    Ok(variables)
}
