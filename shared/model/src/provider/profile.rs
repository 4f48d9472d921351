//! The profile of a provider account. An account can be linked to the user with the same address.
//! An address therefore counts as verified only if the provider has verified it, according to the
//! provider's documentation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::email::Email;
use crate::text::line;

/// An account at a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The stable id of the account at the provider. The id is never an address, because the
    /// provider could reassign an address to someone else.
    pub account_id: String,
    /// The user's name; absent if the provider does not report a name.
    pub name: Option<String>,
    /// The address, if the provider reports a valid address.
    pub email: Option<Email>,
    /// Whether the provider has verified the address.
    pub email_verified: bool,
    /// The picture, an https URL; absent if there is no picture, or if the URL has another scheme
    /// or is too long.
    pub picture: Option<String>,
}

/// The JSON pointers (RFC 6901) to the fields of an account.
#[derive(Debug, Clone, Copy)]
pub struct Fields {
    /// The stable id.
    pub id: &'static str,
    /// The candidates for the name, each with one or more parts; the first candidate that is not
    /// blank is used.
    pub names: &'static [&'static [&'static str]],
    /// The candidates for the address, each with a way to tell whether it is verified; the first
    /// valid address is used. Empty if the account does not contain the address ([`Addresses`]).
    pub emails: &'static [(&'static str, EmailVerification)],
    /// The pointer to the URL of the picture; `None` if the provider's response does not contain a
    /// picture.
    pub picture: Option<&'static str>,
}

/// How to tell whether an address is verified.
#[derive(Debug, Clone, Copy)]
pub enum EmailVerification {
    /// The provider reports only verified addresses.
    Always,
    /// The provider does not vouch for the address, so it counts as unverified.
    Never,
    /// The address is verified if this field is true.
    If(&'static str),
    /// The address is verified if this field is present and not null.
    IfPresent(&'static str),
}

/// A list of email addresses. `list` points into the response, and the other pointers point into
/// each element of the list.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// The list.
    pub list: &'static str,
    /// The address.
    pub email: &'static str,
    /// Whether the address is the primary one.
    pub primary: &'static str,
    /// Whether the address is verified.
    pub verified: &'static str,
}

/// The maximum length of an account id, in bytes, which is the maximum length of `sub` (OpenID
/// Connect Core §2).
const MAX_ID: usize = 255;
const MAX_PICTURE: usize = 2048;
/// Marks the user name of a guest in a Microsoft tenant. The name is derived from the guest's
/// address in their home tenant: it looks like an address of this tenant, but has no mailbox.
const GUEST: &str = "#EXT#";

/// The provider's response does not contain an account id, or the id is empty or too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the provider's response does not contain an account id of 1 to {MAX_ID} bytes")]
pub struct ProfileError;

impl Fields {
    /// The pointers to the standard claims (OpenID Connect Core §5.1).
    pub const OPENID: Self = Self {
        id: "/sub",
        names: &[&["/name"], &["/given_name", "/family_name"], &["/preferred_username"]],
        emails: &[("/email", EmailVerification::If("/email_verified"))],
        picture: Some("/picture"),
    };

    /// Reads the profile from a provider's response.
    pub fn read(&self, account: &Value) -> Result<Profile, ProfileError> {
        let account_id = match account.pointer(self.id) {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Number(id)) => id.to_string(),
            _ => return Err(ProfileError),
        };
        if account_id.is_empty() || account_id.len() > MAX_ID {
            return Err(ProfileError);
        }
        let text = |pointer: &str| account.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let email = self.emails.iter().find_map(|(pointer, verified)| {
            let email = Email::parse(text(pointer).filter(|text| !text.to_ascii_uppercase().contains(GUEST))?).ok()?;
            Some((email, verified.is_verified_in(account)))
        });
        let (email, email_verified) = email.map_or((None, false), |(email, verified)| (Some(email), verified));
        let name = |parts: &&[&str]| parts.iter().filter_map(|pointer| text(pointer)).map(str::trim).collect::<Vec<_>>().join(" ");
        Ok(Profile {
            account_id,
            name: self.names.iter().map(name).map(|name| line::to_line(&name, line::MAX_NAME)).find(|name| !name.trim().is_empty()),
            email,
            email_verified,
            picture: self.picture.and_then(text).filter(|url| url.starts_with("https://") && url.len() <= MAX_PICTURE).map(str::to_owned),
        })
    }
}

impl EmailVerification {
    fn is_verified_in(self, account: &Value) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::If(pointer) => account.pointer(pointer).is_some_and(is_true),
            Self::IfPresent(pointer) => account.pointer(pointer).is_some_and(|value| !value.is_null()),
        }
    }
}

/// Whether a value is true; Apple sends booleans as strings.
fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_str() == Some("true")
}

impl Addresses {
    /// The primary address, and whether it is verified. `None` if the response is not a list of
    /// addresses, does not contain a primary address, or contains an invalid primary address.
    pub fn primary(&self, answer: &Value) -> Option<(Email, bool)> {
        let list = answer.pointer(self.list)?.as_array()?;
        let primary = list.iter().find(|entry| entry.pointer(self.primary).is_some_and(is_true))?;
        let email = Email::parse(primary.pointer(self.email)?.as_str()?).ok()?;
        Some((email, primary.pointer(self.verified).is_some_and(is_true)))
    }
}
