//! Claims of accounts at OAuth providers: an account signs in one user of a project.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | claim | `O#<P>#<provider>#<account>` | `CLAIM` | 1 unit to read, 2 to write in a transaction |
//!
//! A claim exists if and only if a user has the account, is written with the user, and says whether the account signs in.

use aws_sdk_dynamodb::types::AttributeValue;
use model::user::{ProviderAccount, User};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, UserId};

use crate::error::Error;
use crate::item::{Key, string};
use crate::write::Write;

/// Whose account it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountClaim {
    pub user_id: UserId,
    pub signs_in: bool,
    /// The user's credential epoch: that of codes which are made for the account.
    #[serde(default)]
    pub epoch: u64,
}

/// Whose an account becomes, or is.
#[derive(Debug, Clone, Copy)]
pub struct Holder {
    pub user_id: UserId,
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

/// The provider's id has no `#`, so no account of one provider is another's.
pub fn account_claim_key(project: &ProjectId, account: &ProviderAccount) -> Key {
    Key::new(format!("O#{project}#{}#{}", account.provider_id, account.account_id), "CLAIM")
}

/// Claims an account that nobody has.
pub fn claim(project: &ProjectId, account: &ProviderAccount, holder: Holder) -> Result<Write, Error> {
    Write::create(account_claim_key(project, account), &AccountClaim::of(account, holder))
}

/// Renews the claim of an account by the user who has it.
pub fn renew_claim(project: &ProjectId, account: &ProviderAccount, holder: Holder) -> Result<Write, Error> {
    let write = Write::put(account_claim_key(project, account), &AccountClaim::of(account, holder))?;
    Ok(write.on("d.user_id = :user").value(":user", string(holder.user_id.to_string())))
}

/// Fails the transaction unless this user signs in with the account.
pub fn signs_in(project: &ProjectId, account: &ProviderAccount, user: UserId) -> Write {
    Write::check(account_claim_key(project, account), "d.user_id = :user AND d.signs_in = :yes")
        .value(":user", string(user.to_string()))
        .value(":yes", AttributeValue::Bool(true))
}

/// Frees an account of a user.
pub fn release(project: &ProjectId, account: &ProviderAccount, user: UserId) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(account_claim_key(project, account)).on(own).value(":user", string(user.to_string()))
}
