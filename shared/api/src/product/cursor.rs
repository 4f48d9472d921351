//! Cursors: opaque, and bound to the project and the list that they came from.
//!
//! A cursor is a sealed position, so nobody can read, change or carry it elsewhere.

use crypto::seal::Sealed;
use errors::{Error, KnownError};
use flows::App;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::id::ProjectId;

/// The cursor of a position in a list.
pub fn encode(app: &App, project: &ProjectId, list: &str, position: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string(position).map_err(|_| crypto::seal::Error)?;
    let sealed = app.sealer.seal(&app.entropy, &owner(project, list), &SecretString::from(text))?;
    Ok(sealed.into_text())
}

/// The position that a cursor of this list means.
pub fn decode<T: DeserializeOwned>(app: &App, project: &ProjectId, list: &str, cursor: &str) -> Result<T, KnownError> {
    let sealed = Sealed::from_text(cursor.to_owned());
    let text = app.sealer.open(&owner(project, list), &sealed).map_err(|_| KnownError::InvalidCursor)?;
    serde_json::from_str(text.expose_secret()).map_err(|_| KnownError::InvalidCursor)
}

fn owner(project: &ProjectId, list: &str) -> String {
    format!("cursor/{project}/{list}")
}
