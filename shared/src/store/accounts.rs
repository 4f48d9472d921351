//! Changes of accounts: a user with the claims of the addresses and provider accounts that it signs in with, always written together.
//!
//! What has to be written follows from the user before and after: an address that is newly used for signing in is claimed, one that no
//! longer is gets free, and a claim says whether its address is verified. The user is the first write, so a caller knows from a conflict
//! whether the user changed meanwhile (look again) or somebody else has the address or the account.

use super::users::{EmailClaim, UserRow, claim_email, create, email_claim_key, renew_email_claim, replace, user_key};
use super::{Error, Store, Write, images, integer, provider_accounts, string};
use crate::model::email::Email;
use crate::model::id::ProjectId;
use crate::model::user::{Channel, ProviderAccount, User};

/// What became of a change.
#[derive(Debug)]
pub enum Outcome {
    Done,
    /// Somebody changed the user since it was read; nothing was written.
    Changed,
    /// Somebody else signs in with this address; nothing was written.
    EmailTaken(Email),
    /// Somebody else signs in with this account of a provider; nothing was written.
    AccountTaken(ProviderAccount),
}

/// What a user signs in with.
enum Claimed {
    Email(Email),
    Account(ProviderAccount),
}

impl From<Claimed> for Outcome {
    fn from(claimed: Claimed) -> Self {
        match claimed {
            Claimed::Email(email) => Self::EmailTaken(email),
            Claimed::Account(account) => Self::AccountTaken(account),
        }
    }
}

fn claimed(user: &User) -> impl Iterator<Item = &Channel> {
    user.channels.iter().filter(|channel| channel.used_for_auth)
}

/// The claims that change with a user, each with what it claims.
fn claim_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(Claimed, Write)>, Error> {
    let mut writes = account_writes(project, before, after)?;
    for channel in claimed(after) {
        let claim = EmailClaim { user_id: after.id, is_verified: channel.is_verified };
        let old = claimed(before).find(|old| old.value == channel.value);
        let write = match old {
            None => claim_email(project, &channel.value, &claim)?,
            Some(old) if old.is_verified != channel.is_verified => renew_email_claim(project, &channel.value, &claim)?,
            Some(_) => continue,
        };
        writes.push((Claimed::Email(channel.value.clone()), write));
    }
    for channel in claimed(before).filter(|old| !claimed(after).any(|channel| channel.value == old.value)) {
        writes.push((Claimed::Email(channel.value.clone()), release(project, before, &channel.value)));
    }
    Ok(writes)
}

fn account_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(Claimed, Write)>, Error> {
    let has = |user: &User, account: &ProviderAccount| {
        user.provider_accounts.iter().any(|own| (&own.provider_id, &own.account_id) == (&account.provider_id, &account.account_id))
    };
    let mut writes = Vec::new();
    for account in after.provider_accounts.iter().filter(|account| !has(before, account)) {
        writes.push((Claimed::Account(account.clone()), provider_accounts::claim(project, account, after.id)?));
    }
    for account in before.provider_accounts.iter().filter(|account| !has(after, account)) {
        writes.push((Claimed::Account(account.clone()), provider_accounts::release(project, account, before.id)));
    }
    Ok(writes)
}

fn release(project: &ProjectId, user: &User, email: &Email) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(email_claim_key(project, email)).on(own).value(":user", string(user.id.to_string()))
}

impl Store {
    /// Writes a new user, with `others` in the same transaction.
    pub async fn create_account(&self, project: &ProjectId, user: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let nothing = User { channels: Vec::new(), provider_accounts: Vec::new(), ..user.clone() };
        let (mut claimed, claims): (Vec<_>, Vec<_>) = claim_writes(project, &nothing, user)?.into_iter().unzip();
        match self.transact(claims.into_iter().chain([create(project, user)?]).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(failed)) => match failed.first().filter(|index| **index < claimed.len()) {
                Some(index) => Ok(claimed.swap_remove(*index).into()),
                None => Err(Error::Conflict(failed)),
            },
            Err(error) => Err(error),
        }
    }

    /// Replaces the user of `row` by `after`, with `others` in the same transaction.
    pub async fn change_account(&self, project: &ProjectId, row: &UserRow, after: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let (mut claimed, claims): (Vec<_>, Vec<_>) = claim_writes(project, &row.user, after)?.into_iter().unzip();
        let user = replace(project, after, row.version)?;
        if claims.is_empty() && others.is_empty() {
            return match self.write(user).await {
                Err(Error::Conflict(_)) => Ok(Outcome::Changed),
                result => result.map(|()| Outcome::Done),
            };
        }
        let first_other = 1 + claims.len();
        match self.transact([user].into_iter().chain(claims).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(failed)) if failed.contains(&0) => Ok(Outcome::Changed),
            Err(Error::Conflict(failed)) => match failed.first().filter(|index| **index < first_other) {
                Some(index) => Ok(claimed.swap_remove(index - 1).into()),
                None => Err(Error::Conflict(failed.into_iter().map(|index| index - first_other).collect())),
            },
            Err(error) => Err(error),
        }
    }

    /// Deletes a user with its picture, and frees its addresses and accounts; its sessions are over with it. [`Outcome::Changed`] when it changed meanwhile.
    pub async fn delete_account(&self, project: &ProjectId, row: &UserRow) -> Result<Outcome, Error> {
        let user = Write::delete(user_key(project, row.user.id)).on("version = :old").value(":old", integer(row.version));
        let emails = claimed(&row.user).map(|channel| release(project, &row.user, &channel.value));
        let accounts = row.user.provider_accounts.iter().map(|account| provider_accounts::release(project, account, row.user.id));
        let image = row.user.uploaded_image.as_ref().map(|image| images::delete(project, row.user.id, image));
        match self.transact([user].into_iter().chain(emails).chain(accounts).chain(image)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(_)) => Ok(Outcome::Changed),
            Err(error) => Err(error),
        }
    }
}
