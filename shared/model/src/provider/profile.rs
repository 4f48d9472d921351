//! Who an account at a provider belongs to, read from what the provider tells. An address counts as verified only when the provider
//! says so in a way that its document defines: accounts are merged by it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::email::Email;
use crate::text::line;

/// An account at a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The provider's own, stable id; never an address, which can be given to somebody else.
    pub account_id: String,
    pub name: Option<String>,
    pub email: Option<Email>,
    pub email_verified: bool,
    /// An https URL.
    pub picture: Option<String>,
}

/// Where an account's fields are, as JSON pointers (RFC 6901).
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    pub id: &'static str,
    /// The first that is there.
    pub names: &'static [&'static str],
    pub email: Option<(&'static str, Verified)>,
    pub picture: Option<&'static str>,
}

/// Whether an address is verified.
#[derive(Debug, Clone, Copy)]
pub enum Verified {
    Always,
    Never,
    /// When this field is true.
    If(&'static str),
    /// When this field is there and not null.
    IfPresent(&'static str),
}

/// A list of addresses.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    pub list: &'static str,
    pub email: &'static str,
    pub primary: &'static str,
    pub verified: &'static str,
}

/// Longest account id that is kept, as OpenID Connect Core §2 has it for `sub`.
const MAX_ID: usize = 255;
const MAX_PICTURE: usize = 2048;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the provider names no account")]
pub struct NoAccount;

impl Fields {
    /// The standard claims (OpenID Connect Core §5.1).
    pub const OPENID: Self = Self {
        id: "/sub",
        names: &["/name", "/preferred_username"],
        email: Some(("/email", Verified::If("/email_verified"))),
        picture: Some("/picture"),
    };

    /// Reads an account.
    pub fn read(&self, account: &Value) -> Result<Profile, NoAccount> {
        let account_id = match account.pointer(self.id) {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => return Err(NoAccount),
        };
        if account_id.is_empty() || account_id.len() > MAX_ID {
            return Err(NoAccount);
        }
        let text = |pointer: &str| account.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let email = self.email.and_then(|(pointer, verified)| {
            let email = Email::parse(text(pointer)?).ok()?;
            Some((email, verified.of(account)))
        });
        let (email, email_verified) = email.map_or((None, false), |(email, verified)| (Some(email), verified));
        Ok(Profile {
            account_id,
            name: self
                .names
                .iter()
                .filter_map(|pointer| text(pointer))
                .map(|name| line::to_line(name, line::MAX_NAME))
                .find(|name| !name.trim().is_empty()),
            email,
            email_verified,
            picture: self.picture.and_then(text).filter(|url| url.starts_with("https://") && url.len() <= MAX_PICTURE).map(str::to_owned),
        })
    }
}

impl Verified {
    fn of(self, account: &Value) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::If(pointer) => account.pointer(pointer).is_some_and(is_true),
            Self::IfPresent(pointer) => account.pointer(pointer).is_some_and(|value| !value.is_null()),
        }
    }
}

/// Apple writes its booleans as text.
fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_str() == Some("true")
}

impl Addresses {
    /// The primary address, and whether it is verified.
    pub fn primary(&self, answer: &Value) -> Option<(Email, bool)> {
        let list = answer.pointer(self.list)?.as_array()?;
        let primary = list.iter().find(|entry| entry.pointer(self.primary).is_some_and(is_true))?;
        let email = Email::parse(primary.pointer(self.email)?.as_str()?).ok()?;
        Some((email, primary.pointer(self.verified).is_some_and(is_true)))
    }
}
