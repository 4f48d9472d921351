//! Claims to provider accounts: at most one user of a project has a given account.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | claim | `O#<P>#<provider>#<account>` | `CLAIM` | 1 unit to read, 2 to write in a transaction |
//!
//! If an account names an issuer ([`ProviderAccount::issuer`]), its key contains `@` and the digest
//! of the issuer after the provider. All other accounts, including those from earlier versions,
//! belong to the provider's first issuer.
//!
//! A claim exists if and only if a user has the account. The claim is written together with the
//! user, and records whether the user can sign in with the account.

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::provider::account::ProviderAccount;
use model::user::User;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, UserId};

use crate::table::{Error, Key, Label, Write, string};

/// The claim to a provider account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountClaim {
    /// The user who has the account.
    pub user_id: UserId,
    /// Whether the user can sign in with the account.
    pub signs_in: bool,
    /// The user's credential epoch, which is part of codes for the account.
    #[serde(default)]
    pub epoch: u64,
}

/// The current or future user of an account.
#[derive(Debug, Clone, Copy)]
pub struct Holder {
    /// The user.
    pub user_id: UserId,
    /// The user's credential epoch.
    pub epoch: u64,
}

impl From<&User> for Holder {
    fn from(user: &User) -> Self {
        Self { user_id: user.id, epoch: user.credential_epoch }
    }
}

impl AccountClaim {
    fn of(account: &ProviderAccount, Holder { user_id, epoch }: Holder) -> Self {
        Self { user_id, signs_in: account.allow_sign_in, epoch }
    }
}

/// The name of an account in keys. The id of a provider contains neither `#` nor `@`, so accounts
/// at different issuers never have the same name.
pub(crate) fn name(account: &ProviderAccount) -> String {
    let issuer = account.issuer.as_ref().map(|issuer| format!("@{}", Digest::of(issuer))).unwrap_or_default();
    format!("{}{issuer}#{}", account.provider_id, account.account_id)
}

/// The key of a provider account's claim.
pub fn account_claim_key(project: &ProjectId, account: &ProviderAccount) -> Key {
    Key::new(format!("O#{project}#{}", name(account)), "CLAIM")
}

/// Claims an account that no user has.
pub fn claim(project: &ProjectId, account: &ProviderAccount, holder: Holder) -> Result<Write, Error> {
    Write::create(account_claim_key(project, account), &AccountClaim::of(account, holder))
}

/// Renews this user's existing claim to an account.
pub fn renew_claim(project: &ProjectId, account: &ProviderAccount, holder: Holder) -> Result<Write, Error> {
    let write = Write::put(account_claim_key(project, account), &AccountClaim::of(account, holder))?;
    Ok(write.on("d.user_id = :user").value(":user", string(holder.user_id.to_string())))
}

/// Fails the transaction unless this user can sign in with the account.
pub fn signs_in(project: &ProjectId, account: &ProviderAccount, user: UserId) -> Write {
    Write::check(account_claim_key(project, account), "d.user_id = :user AND d.signs_in = :yes")
        .value(":user", string(user.to_string()))
        .value(":yes", AttributeValue::Bool(true))
}

/// Fails the transaction with [`Label::Tokens`] unless this user has the account.
pub fn belongs_to(project: &ProjectId, account: &ProviderAccount, user: UserId) -> Write {
    Write::check(account_claim_key(project, account), "d.user_id = :user").value(":user", string(user.to_string())).labelled(Label::Tokens)
}

/// Releases a user's claim to an account.
pub fn release(project: &ProjectId, account: &ProviderAccount, user: UserId) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(account_claim_key(project, account)).on(own).value(":user", string(user.to_string()))
}
