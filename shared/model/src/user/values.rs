//! Values of user fields in requests.

use std::collections::HashSet;

use crypto::password::hash::Hash;
use deserr::Deserr;
use utoipa::ToSchema;
use wire::id::ProviderAccountId;

use crate::email::any::AnyEmail;
use crate::provider::account::{ProviderAccount, is_account_id};
use crate::text::line;
use crate::user::MAX_ACCOUNTS;

/// The maximum length of a note about a restriction, in characters.
const MAX_NOTE: usize = 4096;

/// A name of at most 256 characters; `None` if the name is blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayName(pub Option<String>);

/// A note about a restriction: at most 4096 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note(pub String);

/// A country, ISO 3166-1 alpha-2, in upper case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountryCode(pub String);

/// A password hash from another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedHash(pub Hash);

/// The value `false`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct False;

/// A provider account that the user can sign in with.
#[wire::optional]
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AccountInput {
    /// The id of a provider in the project.
    pub id: String,
    /// The user's id at the provider.
    pub account_id: String,
    /// The address that the provider reports.
    pub email: Option<AnyEmail>,
}

impl AccountInput {
    pub(crate) const RULE: &str = "must be at most 20 different accounts, with ids of 1 to 512 bytes";

    pub(crate) fn are_distinct(accounts: &[Self]) -> bool {
        let mut seen = HashSet::new();
        let is_new = |account: &Self| is_account_id(&account.account_id) && seen.insert((account.id.clone(), account.account_id.clone()));
        accounts.len() <= MAX_ACCOUNTS && accounts.iter().all(is_new)
    }

    /// The provider account to store, with this id. The issuer is not set yet, because it depends
    /// on the project.
    pub fn account(&self, id: ProviderAccountId) -> ProviderAccount {
        ProviderAccount {
            id,
            provider_id: self.id.clone(),
            issuer: None,
            account_id: self.account_id.clone(),
            email: self.email.clone().map(|email| email.0),
            allow_sign_in: true,
            allow_connected_accounts: true,
        }
    }
}

wire::deserr_from!(DisplayName, String, |text| {
    line::check(&text, line::OPTIONAL_NAME).map(|()| Self((!text.trim().is_empty()).then_some(text)))
});

wire::deserr_from!(Note, String, |text| {
    if text.chars().count() <= MAX_NOTE { Ok(Self(text)) } else { Err("must be at most 4096 characters long") }
});

wire::deserr_from!(CountryCode, String, |text| {
    let text = text.trim();
    let is_code = text.len() == 2 && text.chars().all(|letter| letter.is_ascii_alphabetic());
    if is_code { Ok(Self(text.to_ascii_uppercase())) } else { Err("must be a two-letter country code (ISO 3166-1)") }
});

wire::deserr_from!(ImportedHash, String, |text| {
    Hash::import_bcrypt(&text).map(Self).ok_or("must be a bcrypt hash ($2a$, $2b$ or $2y$) with a cost from 4 to 12")
});

wire::deserr_from!(False, bool, |value| if value { Err("must be false") } else { Ok(Self) });
