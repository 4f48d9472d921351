//! A user's accounts at OAuth providers: what becomes of them when one is added, changed or removed.
//!
//! An account belongs to one user of a project, whether it signs in or only gives access tokens. Nobody may lock themselves out: what a
//! user changes of its own leaves it a way to sign in. A server may take the last one, as it may give another.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{ProviderAccountId, UserId};
use wire::level::Level;

use crate::email::Email;
use crate::project::ProjectConfig;
use crate::provider::catalog;
use crate::user::{Channel, MAX_ACCOUNTS, ProviderAccount, User};

/// Longest id of an account at a provider, in bytes; it is part of a key.
const MAX_ACCOUNT_ID: usize = 512;

/// What is to be changed; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountPatch {
    pub account_id: Option<String>,
    pub email: Option<Email>,
    pub allow_sign_in: Option<bool>,
    pub allow_connected_accounts: Option<bool>,
}

/// Why a change is refused; the user is then as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("the user has no such account")]
    NotFound,
    #[error("the user has this account already")]
    Duplicate,
    #[error("the user has {MAX_ACCOUNTS} accounts")]
    TooMany,
    #[error("the user could not sign in any more")]
    LastWay,
}

/// An account as it is read.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ProviderAccountRead {
    pub user_id: UserId,
    pub id: ProviderAccountId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// Id of the provider in the project's settings.
    pub provider_config_id: String,
    /// A provider of the catalog, or `oidc` for any other issuer.
    pub r#type: String,
    /// Whether it signs the user in.
    pub allow_sign_in: bool,
    /// Whether the app gets the provider's access tokens for it.
    pub allow_connected_accounts: bool,
    /// The user's id at the provider. With server access only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
}

impl ProviderAccountRead {
    pub fn of(user: UserId, account: &ProviderAccount, level: Level) -> Self {
        Self {
            user_id: user,
            id: account.id,
            email: account.email.clone(),
            provider_config_id: account.provider_id.clone(),
            r#type: catalog::find(&account.provider_id).map_or_else(|| "oidc".to_owned(), |known| known.id.to_owned()),
            allow_sign_in: account.allow_sign_in,
            allow_connected_accounts: account.allow_connected_accounts,
            account_id: (level >= Level::Server).then(|| account.account_id.clone()),
        }
    }
}

/// Whether a text may be a user's id at a provider.
pub fn is_account_id(text: &str) -> bool {
    (1..=MAX_ACCOUNT_ID).contains(&text.len())
}

impl ProviderAccount {
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.provider_id, &self.account_id) == (&other.provider_id, &other.account_id)
    }
}

impl User {
    pub fn provider_account(&self, id: ProviderAccountId) -> Option<&ProviderAccount> {
        self.provider_accounts.iter().find(|account| account.id == id)
    }

    pub fn add_account(&mut self, account: ProviderAccount) -> Result<(), Refused> {
        if self.provider_accounts.iter().any(|own| own.is_same(&account)) {
            return Err(Refused::Duplicate);
        }
        if self.provider_accounts.len() >= MAX_ACCOUNTS {
            return Err(Refused::TooMany);
        }
        self.provider_accounts.push(account);
        Ok(())
    }

    pub fn change_account(&mut self, id: ProviderAccountId, patch: AccountPatch) -> Result<(), Refused> {
        let old = self.provider_account(id).ok_or(Refused::NotFound)?.clone();
        let new = ProviderAccount {
            account_id: patch.account_id.unwrap_or(old.account_id),
            email: patch.email.or(old.email),
            allow_sign_in: patch.allow_sign_in.unwrap_or(old.allow_sign_in),
            allow_connected_accounts: patch.allow_connected_accounts.unwrap_or(old.allow_connected_accounts),
            ..old
        };
        if self.provider_accounts.iter().any(|other| other.id != id && other.is_same(&new)) {
            return Err(Refused::Duplicate);
        }
        let before = self.clone();
        for account in self.provider_accounts.iter_mut().filter(|account| account.id == id) {
            *account = new.clone();
        }
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    pub fn remove_account(&mut self, id: ProviderAccountId) -> Result<(), Refused> {
        self.provider_account(id).ok_or(Refused::NotFound)?;
        let before = self.clone();
        self.provider_accounts.retain(|account| account.id != id);
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    /// Whether the user can prove that it is itself, with what the project lets it use.
    pub fn has_way_to_sign_in(&self, config: &ProjectConfig) -> bool {
        let by_email = self.channels.iter().any(Channel::signs_in);
        let by_password = config.credential_enabled && self.password.is_some();
        let by_code = config.magic_link_enabled && self.otp_enabled;
        let by_account = |account: &ProviderAccount| account.allow_sign_in && config.oauth_provider(&account.provider_id).is_some();
        (by_email && (by_password || by_code)) || self.provider_accounts.iter().any(by_account)
    }

    /// Refuses the change of `before` that takes a user's last way to sign in.
    pub fn keeps_way_to_sign_in(&self, before: &Self, config: &ProjectConfig) -> Result<(), Refused> {
        let is_kept = self.has_way_to_sign_in(config) || !before.has_way_to_sign_in(config);
        if is_kept { Ok(()) } else { Err(Refused::LastWay) }
    }
}
