//! Account changes, each written in one transaction together with the claims to provider accounts,
//! passkeys and sign-in email addresses. Only the deletion of a user with very many memberships
//! takes several transactions.
//!
//! The writes are derived by comparing the user before and after the change. Added provider
//! accounts, passkeys and sign-in addresses are claimed. Removed accounts and passkeys, and
//! addresses that no longer sign the user in, are released. Claims with new content are renewed.
//! The writes are labelled, so that the caller can tell from a conflict whether the user has
//! changed since it was read or another user has one of the claimed values.

use jiff::Timestamp;
use model::email::Email;
use model::metrics::tally::Tally;
use model::provider::account::ProviderAccount;
use model::trail::Event;
use model::trail::account::{additions, events};
use model::user::passkey::Passkey;
use model::user::{Channel, User};
use wire::id::{ProjectId, TeamId, UserId};

use crate::deletions::{DeletionTarget, PendingDeletion};
use crate::keys::user_key;
use crate::metrics::activity;
use crate::passkey;
use crate::profile_image;
use crate::provider::account;
use crate::provider::tokens::drop_tokens;
use crate::table::{Conflict, Contention as _, Error, Key, Label, MAX_WRITES, Store, Write, integer, string};
use crate::user::by_word::{no_words, unclaimed, words};
use crate::user::{EmailClaim, UserRow, claim_email, create, email_claim_key, renew_email_claim, replace, take_email_claim};

/// Marks a user whose deletion has begun but takes several transactions.
const ENDING: &str = "ending";
/// The maximum number of writes in [`Store::removals_of_deleted`] for one team.
const MAX_DELETED_WRITES: usize = 3;

/// The outcome of a change.
#[derive(Debug)]
pub enum Outcome {
    /// The change was written.
    Done,
    /// The user, or the holder of an address that the user takes over, has changed since it was
    /// read; nothing was written. [`Store::delete_account`] also returns this outcome after it has
    /// deleted memberships, but not the user.
    Changed,
    /// Another user signs in with this email address; nothing was written.
    EmailTaken(Email),
    /// Another user has this provider account; nothing was written.
    AccountTaken(ProviderAccount),
    /// Another user has this passkey; nothing was written.
    PasskeyTaken(Box<Passkey>),
}

/// An identifier that a user claims.
enum UserClaim {
    Email(Email),
    Account(ProviderAccount),
    Passkey(Box<Passkey>),
}

impl From<UserClaim> for Outcome {
    fn from(claimed: UserClaim) -> Self {
        match claimed {
            UserClaim::Email(email) => Self::EmailTaken(email),
            UserClaim::Account(account) => Self::AccountTaken(account),
            UserClaim::Passkey(passkey) => Self::PasskeyTaken(passkey),
        }
    }
}

fn claimed(user: &User) -> impl Iterator<Item = &Channel> {
    user.channels.iter().filter(|channel| channel.signs_in())
}

/// The writes to claims for a change to a user (except releases of passkeys), and the deletions of
/// removed provider accounts' tokens. Each write comes with the email address, provider account or
/// passkey that it concerns.
fn claim_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(UserClaim, Write)>, Error> {
    let mut writes = Vec::new();
    for channel in claimed(after) {
        let claim = EmailClaim::of(after, channel);
        let old = claimed(before).find(|old| old.value == channel.value).map(|old| EmailClaim::of(before, old));
        let write = match old {
            None => claim_email(project, &channel.value, &claim)?,
            Some(old) if old != claim => renew_email_claim(project, &channel.value, &claim)?,
            Some(_) => continue,
        };
        writes.push((UserClaim::Email(channel.value.clone()), write));
    }
    for channel in claimed(before).filter(|old| !claimed(after).any(|channel| channel.value == old.value)) {
        writes.push((UserClaim::Email(channel.value.clone()), release(project, before, &channel.value)));
    }
    writes.extend(account_writes(project, before, after)?);
    let passkeys = passkey::claims(project, before, after)?;
    writes.extend(passkeys.into_iter().map(|(passkey, write)| (UserClaim::Passkey(Box::new(passkey)), write)));
    Ok(writes)
}

/// The writes to claims for an anonymous user, `before`, who signs up as `after`. If the sign-up
/// has an address, the first write claims the address, with the label `Label::Claim(0)`.
pub fn sign_up_claims(project: &ProjectId, before: &User, after: &User) -> Result<Vec<Write>, Error> {
    let (_, mut writes) = labelled(claim_writes(project, before, after)?);
    writes.extend(passkey::releases(project, before, &after.passkeys));
    Ok(writes)
}

fn account_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(UserClaim, Write)>, Error> {
    let of = |user: &User, account: &ProviderAccount| user.provider_accounts.iter().find(|own| own.is_same(account)).cloned();
    let mut writes = Vec::new();
    for account in &after.provider_accounts {
        let write = match of(before, account) {
            None => account::claim(project, account, after.into())?,
            Some(old) if old.allow_sign_in != account.allow_sign_in || before.credential_epoch != after.credential_epoch => {
                account::renew_claim(project, account, after.into())?
            }
            Some(_) => continue,
        };
        writes.push((UserClaim::Account(account.clone()), write));
    }
    for account in before.provider_accounts.iter().filter(|account| of(after, account).is_none()) {
        let gone = [account::release(project, account, before.id), drop_tokens(project, before.id, account)];
        writes.extend(gone.map(|write| (UserClaim::Account(account.clone()), write)));
    }
    Ok(writes)
}

/// The claims, and their writes, which are labelled by position.
fn labelled(claims: Vec<(UserClaim, Write)>) -> (Vec<UserClaim>, Vec<Write>) {
    let numbered = claims.into_iter().enumerate();
    numbered.map(|(number, (claimed, write))| (claimed, write.labelled(Label::Claim(number)))).unzip()
}

/// The outcome of a conflict; if another user has one of the claimed values, the outcome shows
/// which.
fn taken(conflict: Conflict, mut claimed: Vec<UserClaim>) -> Result<Outcome, Error> {
    match conflict.claim() {
        Some(number) => Ok(claimed.swap_remove(number).into()),
        None => Err(Error::Conflict(conflict)),
    }
}

fn release(project: &ProjectId, user: &User, email: &Email) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(email_claim_key(project, email)).on(own).value(":user", string(user.id.to_string()))
}

/// An email address whose claim passes to another user.
#[derive(Clone, Copy)]
pub struct TakenAddress<'a> {
    /// The address.
    pub email: &'a Email,
    /// The user who loses the claim, in the state that the transaction writes, with the version
    /// that was read. The transaction fails if, according to the claim, this user has proved the
    /// address.
    pub holder: &'a UserRow,
}

impl Outcome {
    /// Success if the change was written, otherwise [`Error::Conflict`]; for callers that read and
    /// decide again, no matter what prevented the change.
    pub fn done(self) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::Changed | Self::EmailTaken(_) | Self::AccountTaken(_) | Self::PasskeyTaken(_) => Err(Error::conflict()),
        }
    }
}

impl Store {
    /// Writes a new user, and `others` in the same transaction.
    pub async fn create_account(&self, project: &ProjectId, user: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let nothing = User { channels: Vec::new(), provider_accounts: Vec::new(), passkeys: Vec::new(), ..user.clone() };
        let (claimed, claims) = labelled(claim_writes(project, &nothing, user)?);
        let words = words(project, None, user)?;
        match self.transact(claims.into_iter().chain([create(project, user)?]).chain(words).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(conflict)) => taken(conflict, claimed),
            Err(error) => Err(error),
        }
    }

    /// Replaces the user of `row` with `after`, and writes `others` in the same transaction. Then
    /// renames the personal team if an anonymous user has become an ordinary user.
    pub async fn change_account(&self, project: &ProjectId, row: &UserRow, after: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let outcome = self.replace_account(project, row, after, others).await?;
        if row.user.is_anonymous && !after.is_anonymous && matches!(outcome, Outcome::Done) {
            self.name_personal_team(project, after).await;
        }
        Ok(outcome)
    }

    /// Replaces the user of `row` with `after`, who takes over the claim to an email address from
    /// another user. Writes `others` in the same transaction. No team is renamed.
    pub async fn take_email(
        &self,
        project: &ProjectId,
        row: &UserRow,
        after: &User,
        taken: TakenAddress<'_>,
        mut others: Vec<Write>,
    ) -> Result<Outcome, Error> {
        let TakenAddress { email, holder } = taken;
        let mut claims = claim_writes(project, &row.user, after)?;
        for (of, write) in &mut claims {
            if let (UserClaim::Email(of), Some(channel)) = (of, after.channel_of(email))
                && of == email
            {
                *write = take_email_claim(project, email, &EmailClaim::of(after, channel), holder.user.id)?;
            }
        }
        others.push(replace(project, &holder.user, holder.version)?.labelled(Label::Account));
        others.extend(unclaimed(project, &holder.user, email)?);
        self.write_account(project, row, after, claims, others).await
    }

    async fn replace_account(&self, project: &ProjectId, row: &UserRow, after: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        self.write_account(project, row, after, claim_writes(project, &row.user, after)?, others).await
    }

    async fn write_account(
        &self,
        project: &ProjectId,
        row: &UserRow,
        after: &User,
        claims: Vec<(UserClaim, Write)>,
        mut others: Vec<Write>,
    ) -> Result<Outcome, Error> {
        let (claimed, claims) = labelled(claims);
        others.extend(words(project, Some(&row.user), after)?);
        let room = MAX_WRITES.saturating_sub(1 + claims.len() + others.len());
        others.extend(passkey::releases(project, &row.user, &after.passkeys).into_iter().take(room));
        let user = replace(project, after, row.version)?.labelled(Label::Account);
        let user = user.tells(events(&row.user, after)).targets(additions(&row.user, after));
        let user = user.tallies(&Tally::change(Some(&row.user), Some(after)));
        if claims.is_empty() && others.is_empty() {
            return match self.write(user).await {
                Err(Error::Conflict(_)) => Ok(Outcome::Changed),
                result => result.map(|()| Outcome::Done),
            };
        }
        match self.transact([user].into_iter().chain(claims).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Account) => Ok(Outcome::Changed),
            Err(Error::Conflict(conflict)) => taken(conflict, claimed),
            Err(error) => Err(error),
        }
    }

    /// A user to delete, with as many memberships, sessions, remembered devices and grants as fit
    /// into one transaction. Costs one Query, which reads the user first.
    pub async fn account(&self, project: &ProjectId, id: UserId) -> Result<Option<Account>, Error> {
        let query = self
            .query_range(user_key(project, id).pk, "DEVICE#", "USER")
            .scan_index_forward(false)
            .limit(i32::try_from(MAX_WRITES).unwrap_or(i32::MAX));
        let (mut row, mut is_ending, mut teams, mut others) = (None, false, Vec::new(), Vec::new());
        for item in self.query_page(query).await?.0 {
            let sk = item.get("sk").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
            match sk.split_once('#') {
                None => {
                    is_ending = item.contains_key(ENDING);
                    row = Some(UserRow::of(item)?);
                }
                Some(("TEAM", id)) => teams.extend(TeamId::parse(id).ok()),
                Some(("SESSION" | "DEVICE" | "GRANT", _)) => others.push(Key::new(user_key(project, id).pk, sk)),
                // The picture and the tokens of provider accounts are deleted by separate writes.
                Some(_) => {}
            }
        }
        Ok(row.map(|row| Account { row, is_ending, teams, others }))
    }

    /// Deletes a user with all pictures, provider tokens and memberships, and releases the user's
    /// email addresses and provider accounts. Sessions stop working once their user is deleted.
    /// Returns [`Outcome::Changed`] if the user has changed since `account` was read, or has more
    /// memberships than fit into one transaction. If there are too many memberships, those in
    /// `account` are deleted first. The caller can then read the user again and continue, or a
    /// worker does so later ([`crate::deletions`]). Joining a team changes the user, so no
    /// membership is overlooked.
    ///
    /// The same transaction releases passkeys and deletes sessions and devices: as many as fit,
    /// which is usually all of them. Sessions and devices are deleted because they record where the
    /// user was. Any remaining sessions and devices do not work, and expire by TTL.
    pub async fn delete_account(&self, project: &ProjectId, account: &Account, now: Timestamp) -> Result<Outcome, Error> {
        let Account { row, is_ending, teams, others } = account;
        let id = row.user.id;
        let user = Write::delete(user_key(project, id)).on("version = :old").value(":old", integer(row.version));
        let user = user.about(id).tells([Event::Deleted]);
        let gone = Tally::change(Some(&row.user), None);
        let user = if *is_ending { user } else { user.tallies(&gone) };
        let active = Write::delete(activity::user_key(project, id));
        let emails = claimed(&row.user).map(|channel| release(project, &row.user, &channel.value));
        let accounts = account_writes(project, &row.user, &User { provider_accounts: Vec::new(), ..row.user.clone() })?;
        let accounts = accounts.into_iter().map(|(_, write)| write);
        let image = row.user.uploaded_image.as_ref().map(|image| profile_image::delete(project, id, image));
        let words = no_words(project, &row.user);
        let all: Vec<Write> = [user].into_iter().chain(emails).chain(accounts).chain(words).chain(image).chain([active]).collect();
        let memberships = self.removals_of_deleted(project, id, teams).await?;
        if teams.len() > MAX_WRITES.saturating_sub(all.len()) / MAX_DELETED_WRITES {
            let ending = PendingDeletion { project: project.clone(), what: DeletionTarget::User { id }, begun_at: now }.note()?;
            if !is_ending {
                // Because of the mark, the trail counts the deletion once, no matter who completes
                // it.
                let mark = Write::update(user_key(project, id), format!("SET {ENDING} = :yes")).value(":yes", integer(1));
                let mark = mark.on(format!("attribute_exists(pk) AND attribute_not_exists({ENDING})")).about(id).tells([Event::Deleted]);
                match self.transact([mark.tallies(&gone), ending]).await {
                    Ok(()) | Err(Error::Conflict(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let chunks = memberships.chunks(MAX_WRITES / MAX_DELETED_WRITES).map(|some| self.transact(some.concat()));
            return match futures_util::future::try_join_all(chunks).await {
                Ok(_) | Err(Error::Conflict(_)) => Ok(Outcome::Changed),
                Err(error) => Err(error),
            };
        }
        let passkeys = passkey::releases(project, &row.user, &[]);
        let others = others.iter().cloned().map(Write::delete);
        match self.transact(all.into_iter().chain(memberships.into_iter().flatten()).chain(passkeys).chain(others).take(MAX_WRITES)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(_)) => Ok(Outcome::Changed),
            Err(error) => Err(error),
        }
    }
}

/// A user to delete, with memberships, sessions, remembered devices and grants.
#[derive(Debug)]
pub struct Account {
    row: UserRow,
    /// Whether the deletion has already begun.
    is_ending: bool,
    /// The user's teams; only some of them if there are very many.
    teams: Vec<TeamId>,
    /// The keys of sessions, remembered devices and grants; only some of them if there are very
    /// many.
    others: Vec<Key>,
}
