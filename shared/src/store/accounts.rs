//! Changes of accounts: a user with the claims of the addresses that it signs in with, always written together.
//!
//! What has to be written follows from the user before and after: an address that is newly used for signing in is claimed, one that no
//! longer is gets free, and a claim says whether its address is verified. The user is the first write, so a caller knows from a conflict
//! whether the user changed meanwhile (look again) or somebody else has the address.

use super::users::{EmailClaim, UserRow, claim_email, email_claim_key, renew_email_claim, replace, user_key};
use super::{Error, Store, Write, integer, string};
use crate::model::email::Email;
use crate::model::id::ProjectId;
use crate::model::user::{Channel, User};

/// What became of a change.
#[derive(Debug)]
pub enum Outcome {
    Done,
    /// Somebody changed the user since it was read; nothing was written.
    Changed,
    /// Somebody else signs in with this address; nothing was written.
    EmailTaken(Email),
}

fn claimed(user: &User) -> impl Iterator<Item = &Channel> {
    user.channels.iter().filter(|channel| channel.used_for_auth)
}

/// The claims that change with a user, each with its address.
fn claim_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(Email, Write)>, Error> {
    let mut writes = Vec::new();
    for channel in claimed(after) {
        let claim = EmailClaim { user_id: after.id, is_verified: channel.is_verified };
        let old = claimed(before).find(|old| old.value == channel.value);
        let write = match old {
            None => claim_email(project, &channel.value, &claim)?,
            Some(old) if old.is_verified != channel.is_verified => renew_email_claim(project, &channel.value, &claim)?,
            Some(_) => continue,
        };
        writes.push((channel.value.clone(), write));
    }
    for channel in claimed(before).filter(|old| !claimed(after).any(|channel| channel.value == old.value)) {
        writes.push((channel.value.clone(), release(project, before, &channel.value)));
    }
    Ok(writes)
}

fn release(project: &ProjectId, user: &User, email: &Email) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(email_claim_key(project, email)).on(own).value(":user", string(user.id.to_string()))
}

impl Store {
    /// Replaces the user of `row` by `after`, with `others` in the same transaction.
    pub async fn change_account(&self, project: &ProjectId, row: &UserRow, after: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let (emails, claims): (Vec<_>, Vec<_>) = claim_writes(project, &row.user, after)?.into_iter().unzip();
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
            Err(Error::Conflict(failed)) => match failed.first().and_then(|index| emails.get(index - 1)) {
                Some(email) => Ok(Outcome::EmailTaken(email.clone())),
                None => Err(Error::Conflict(failed.into_iter().map(|index| index - first_other).collect())),
            },
            Err(error) => Err(error),
        }
    }

    /// Deletes a user and frees its addresses; its sessions are over with it. [`Outcome::Changed`] when it changed meanwhile.
    pub async fn delete_account(&self, project: &ProjectId, row: &UserRow) -> Result<Outcome, Error> {
        let user = Write::delete(user_key(project, row.user.id)).on("version = :old").value(":old", integer(row.version));
        let claims = claimed(&row.user).map(|channel| release(project, &row.user, &channel.value));
        match self.transact([user].into_iter().chain(claims)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(_)) => Ok(Outcome::Changed),
            Err(error) => Err(error),
        }
    }
}
