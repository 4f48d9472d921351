//! Cursors are opaque, and bound to the project and the list they come from.
//!
//! A cursor is an encrypted, authenticated position, so nobody can read it, change it or use it for
//! another list.

use std::fmt::Display;

use crypto::seal::SealedText;
use errors::{Error, KnownError};
use flows::context::Context;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The cursors of one list of the caller's project.
pub struct Cursors<'a> {
    context: &'a Context,
    owner: String,
}

impl<'a> Cursors<'a> {
    /// The cursors of a list. The name `list` must contain everything that determines the items and
    /// their order.
    pub fn of(context: &'a Context, list: impl Display) -> Self {
        Self { context, owner: format!("cursor/{}/{list}", context.project.id) }
    }

    /// The cursor of the page after `position`; `None` without a position, that is, on the last
    /// page.
    pub fn next(&self, position: Option<&impl Serialize>) -> Result<Option<String>, Error> {
        let Some(position) = position else { return Ok(None) };
        let text = serde_json::to_string(position).map_err(|_| crypto::seal::Error)?;
        let app = &self.context.app;
        let sealed = app.sealer.seal(&app.entropy, &self.owner, &SecretString::from(text))?;
        Ok(Some(sealed.into_text()))
    }

    /// The position in a cursor; `None` if there is no cursor. Fails with `INVALID_CURSOR` if the
    /// text is not a cursor of this list.
    pub fn position<T: DeserializeOwned>(&self, cursor: Option<&str>) -> Result<Option<T>, KnownError> {
        let Some(cursor) = cursor else { return Ok(None) };
        let sealed = SealedText::from_text(cursor.to_owned());
        let text = self.context.app.sealer.open(&self.owner, &sealed).map_err(|_| KnownError::InvalidCursor)?;
        serde_json::from_str(text.expose_secret()).map(Some).map_err(|_| KnownError::InvalidCursor)
    }
}
