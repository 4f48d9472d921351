//! A user's provider accounts: the effects of adding, changing and removing them.
//!
//! A user who links accounts through the provider's consent page may sign in with several accounts
//! of the same provider. The operations that create or update provider accounts refuse to enable a
//! second account of a provider for signing in. Users must not lock themselves out, so a change by
//! the user must leave a way to sign in. A server may remove the last way to sign in, because it
//! can also add one.

use wire::id::ProviderAccountId;

use crate::email::Email;
use crate::project::ProjectConfig;
use crate::provider::account::ProviderAccount;
use crate::user::{Channel, MAX_ACCOUNTS, User};

/// A change to a provider account; absent fields keep their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountPatch {
    /// The user's id at the provider.
    pub account_id: Option<String>,
    /// The address reported by the provider.
    pub email: Option<Email>,
    /// Whether the user can sign in with the account.
    pub allow_sign_in: Option<bool>,
    /// Whether the app may get access tokens for the account.
    pub allow_connected_accounts: Option<bool>,
}

/// Why a change is refused; if so, the user is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountRefusal {
    /// The user does not have this account.
    #[error("the user does not have this provider account")]
    NotFound,
    /// The user already has this account.
    #[error("the user already has this provider account")]
    Duplicate,
    /// The user already has [`MAX_ACCOUNTS`] accounts.
    #[error("the user has reached the maximum of {MAX_ACCOUNTS} provider accounts")]
    TooMany,
    /// The user already signs in with another account at the provider.
    #[error("another account of the provider already signs the user in")]
    SecondSignIn,
    /// The user would no longer have any way to sign in.
    #[error("the user would have no way to sign in")]
    LastWay,
}

impl User {
    /// The provider account with this id.
    pub fn provider_account(&self, id: ProviderAccountId) -> Option<&ProviderAccount> {
        self.provider_accounts.iter().find(|account| account.id == id)
    }

    /// Adds a provider account.
    pub fn add_account(&mut self, account: ProviderAccount) -> Result<(), AccountRefusal> {
        if self.provider_accounts.iter().any(|own| own.is_same(&account)) {
            return Err(AccountRefusal::Duplicate);
        }
        if self.provider_accounts.len() >= MAX_ACCOUNTS {
            return Err(AccountRefusal::TooMany);
        }
        self.provider_accounts.push(account);
        Ok(())
    }

    /// Changes a provider account.
    pub fn change_account(&mut self, id: ProviderAccountId, patch: AccountPatch) -> Result<(), AccountRefusal> {
        let old = self.provider_account(id).ok_or(AccountRefusal::NotFound)?.clone();
        let new = ProviderAccount {
            account_id: patch.account_id.unwrap_or(old.account_id),
            email: patch.email.or(old.email),
            allow_sign_in: patch.allow_sign_in.unwrap_or(old.allow_sign_in),
            allow_connected_accounts: patch.allow_connected_accounts.unwrap_or(old.allow_connected_accounts),
            ..old
        };
        if self.provider_accounts.iter().any(|other| other.id != id && other.is_same(&new)) {
            return Err(AccountRefusal::Duplicate);
        }
        let before = self.clone();
        for account in self.provider_accounts.iter_mut().filter(|account| account.id == id) {
            *account = new.clone();
        }
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    /// Removes a provider account.
    pub fn remove_account(&mut self, id: ProviderAccountId) -> Result<(), AccountRefusal> {
        self.provider_account(id).ok_or(AccountRefusal::NotFound)?;
        let before = self.clone();
        self.provider_accounts.retain(|account| account.id != id);
        self.raise_epoch_if_way_in_went(&before);
        Ok(())
    }

    /// Refuses a change after which the user can sign in with more than one account of a provider,
    /// and with more accounts than before. `before` is the user before the change.
    pub fn keeps_one_sign_in(&self, before: &Self) -> Result<(), AccountRefusal> {
        let count = |user: &Self, one: &ProviderAccount| {
            user.provider_accounts.iter().filter(|account| account.allow_sign_in && account.has_source_of(one)).count()
        };
        let is_further = |account: &ProviderAccount| {
            let after = count(self, account);
            after > 1 && after > count(before, account)
        };
        if self.provider_accounts.iter().any(is_further) { Err(AccountRefusal::SecondSignIn) } else { Ok(()) }
    }

    /// Whether the user can sign in with a method that the project permits.
    pub fn has_way_to_sign_in(&self, config: &ProjectConfig) -> bool {
        let by_email = self.channels.iter().any(Channel::signs_in);
        let by_password = config.credential_enabled && self.password.is_some();
        let by_code = config.magic_link_enabled && self.otp_enabled;
        let by_account = |account: &ProviderAccount| account.allow_sign_in && config.identifies(account);
        let by_passkey = config.passkeys.enabled && !self.passkeys.is_empty();
        (by_email && (by_password || by_code)) || by_passkey || self.provider_accounts.iter().any(by_account)
    }

    /// Refuses a change that removes the user's last way to sign in. `before` is the user before
    /// the change. Disabling emailed codes counts as removing a way to sign in, even if the user
    /// has never used a code.
    pub fn keeps_way_to_sign_in(&self, before: &Self, config: &ProjectConfig) -> Result<(), AccountRefusal> {
        let codes_work = config.magic_link_enabled && !before.otp_refused && before.channels.iter().any(Channel::signs_in);
        let had_way = before.has_way_to_sign_in(config) || (self.otp_refused && codes_work);
        let is_kept = self.has_way_to_sign_in(config) || !had_way;
        if is_kept { Ok(()) } else { Err(AccountRefusal::LastWay) }
    }
}
