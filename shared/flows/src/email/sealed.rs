//! Built-in emails that contain codes. The outbox entry contains the codes in sealed form; the
//! worker that sends the email unseals them. [`model::outbox::codes`] explains the reason, and what
//! the entry shows to other readers.

use std::collections::BTreeMap;

use crypto::seal;
use jiff::Timestamp;
use model::outbox::codes::{self, CodeVariable, HIDDEN, owner};
use model::outbox::{NewEntry, OutboxEntry};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value};
use wire::id::{EmailId, ProjectId};

use crate::app::App;

/// A new entry with the variables in `new` and those in `coded`, whose codes are sealed.
pub fn entry(
    app: &App,
    project: &ProjectId,
    mut new: NewEntry,
    coded: impl IntoIterator<Item = CodeVariable>,
    now: Timestamp,
) -> Result<OutboxEntry, store::Error> {
    let id = EmailId::from(app.entropy.uuid());
    let mut codes = BTreeMap::new();
    for CodeVariable { name, code, shown } in coded {
        let owner = owner(project.as_str(), &id.to_string(), name);
        let sealed = app.sealer.seal(&app.entropy, &owner, &SecretString::from(code));
        codes.insert(name.to_owned(), sealed.map_err(|error| store::Error::Refused(error.to_string()))?);
        new.variables.insert(name.to_owned(), Value::String(shown));
    }
    Ok(OutboxEntry { codes: Some(codes), ..OutboxEntry::new(id, new, now) })
}

/// The variables of an entry with the codes in plaintext, for its recipient only.
pub fn opened(app: &App, project: &ProjectId, entry: &OutboxEntry) -> Result<Map<String, Value>, seal::Error> {
    let mut variables = entry.variables.clone();
    for (name, sealed) in entry.codes.iter().flatten() {
        let sealed = app.sealer.open(&owner(project.as_str(), &entry.id.to_string(), name), sealed)?;
        let shown = entry.variables.get(name).and_then(Value::as_str).unwrap_or(HIDDEN);
        variables.insert(name.clone(), Value::String(codes::value(shown, sealed.expose_secret())));
    }
    Ok(variables)
}
