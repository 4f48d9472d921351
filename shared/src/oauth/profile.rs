//! Who an account at a provider belongs to, read from what the provider tells. An address counts as verified only when the provider
//! says so in a way that its document defines: accounts are merged by it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::email::Email;
use crate::model::line;

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::oauth::catalog::{self, Api, Identity};

    fn api(id: &str) -> Api {
        match catalog::find(id).expect("a provider of the catalog").identity {
            Identity::Api(api) => api,
            Identity::IdToken { .. } => panic!("{id} has no API"),
        }
    }

    /// Documents as the providers describe them, shortened to what is read.
    #[test]
    fn each_provider_names_its_accounts_in_its_own_way() {
        let cases = [
            ("microsoft", json!({ "id": "a1", "displayName": "Ada", "mail": "Ada@Example.com" }), "a1", Some(false)),
            ("facebook", json!({ "id": "102", "name": "Ada", "email": "ada@example.com" }), "102", Some(false)),
            ("spotify", json!({ "id": "ada", "display_name": "Ada", "email": "ada@example.com", "images": [] }), "ada", Some(false)),
            ("discord", json!({ "id": "8", "username": "Ada", "email": "ada@example.com", "verified": true }), "8", Some(true)),
            ("gitlab", json!({ "id": 1, "name": "Ada", "email": "ada@example.com", "confirmed_at": null }), "1", Some(false)),
            ("linkedin", json!({ "sub": "z", "name": "Ada", "email": "ada@example.com", "email_verified": true }), "z", Some(true)),
            ("x", json!({ "data": { "id": "5", "name": "Ada", "confirmed_email": "ada@example.com" } }), "5", Some(true)),
            ("twitch", json!({ "data": [{ "id": "4", "display_name": "Ada", "email": "ada@example.com" }] }), "4", Some(true)),
            ("github", json!({ "id": 583_231, "login": "Ada", "name": null }), "583231", None),
            ("bitbucket", json!({ "account_id": "557058:x", "display_name": "Ada" }), "557058:x", None),
        ];
        for (id, account, account_id, verified) in cases {
            let profile = api(id).fields.read(&account).expect("an account");
            assert_eq!((profile.account_id.as_str(), profile.name.as_deref()), (account_id, Some("Ada")), "{id}");
            assert_eq!(
                profile.email.map(|email| (email.to_string(), profile.email_verified)),
                verified.map(|v| ("ada@example.com".to_owned(), v)),
                "{id}"
            );
        }
    }

    #[test]
    fn an_address_in_a_list_is_the_primary_one() {
        let github = json!([{ "email": "old@example.com", "primary": false, "verified": true }, { "email": "ada@example.com", "primary": true, "verified": false }]);
        let bitbucket = json!({ "values": [{ "email": "ada@example.com", "is_primary": true, "is_confirmed": true }] });
        for (id, answer, verified) in [("github", github, false), ("bitbucket", bitbucket, true)] {
            let (_, addresses) = api(id).addresses.expect("addresses");
            assert_eq!(
                addresses.primary(&answer).map(|(email, verified)| (email.to_string(), verified)),
                Some(("ada@example.com".to_owned(), verified))
            );
            assert_eq!(addresses.primary(&json!({ "message": "Not Found" })), None);
        }
    }

    #[test]
    fn what_names_no_account_is_refused() {
        for account in [json!({}), json!({ "sub": null }), json!({ "sub": "" }), json!([]), json!({ "sub": "x".repeat(256) })] {
            assert_eq!(Fields::OPENID.read(&account), Err(NoAccount), "{account}");
        }
    }
}
