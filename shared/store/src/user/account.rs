//! Changes of accounts: a user with the claims of the addresses and provider accounts that it signs in with, always written together.
//!
//! What has to be written follows from the user before and after: an address that newly signs in is claimed, one that no longer does gets
//! free, and a claim that would say something else is renewed. The user is the first write, so a caller knows from a conflict
//! whether the user changed meanwhile (look again) or somebody else has the address or the account.

use jiff::Timestamp;
use model::email::Email;
use model::trail::{self, Event};
use model::user::{Channel, ProviderAccount, User};
use wire::id::{ProjectId, SessionId, TeamId, UserId};

use crate::client::{MAX_WRITES, Store};
use crate::contention::Contention as _;
use crate::deletions::{Ended, Ending};
use crate::error::Error;
use crate::item::{integer, string};
use crate::keys::user_key;
use crate::label::Label;
use crate::profile_image;
use crate::provider::authorization::drop_tokens;
use crate::session::session_key;
use crate::team::membership::remove_deleted;
use crate::user::{
    EmailClaim, UserRow, claim_email, create, email_claim_key, provider_account, renew_email_claim, replace, take_email_claim,
};
use crate::write::Write;

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
    user.channels.iter().filter(|channel| channel.signs_in())
}

/// The claims that change with a user, each with what it claims.
fn claim_writes(project: &ProjectId, before: &User, after: &User) -> Result<Vec<(Claimed, Write)>, Error> {
    let mut writes = account_writes(project, before, after)?;
    for channel in claimed(after) {
        let claim = EmailClaim::of(after, channel);
        let old = claimed(before).find(|old| old.value == channel.value).map(|old| EmailClaim::of(before, old));
        let write = match old {
            None => claim_email(project, &channel.value, &claim)?,
            Some(old) if old != claim => renew_email_claim(project, &channel.value, &claim)?,
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
    let of = |user: &User, account: &ProviderAccount| user.provider_accounts.iter().find(|own| own.is_same(account)).cloned();
    let mut writes = Vec::new();
    for account in &after.provider_accounts {
        let write = match of(before, account) {
            None => provider_account::claim(project, account, after.into())?,
            Some(old) if old.allow_sign_in != account.allow_sign_in || before.credential_epoch != after.credential_epoch => {
                provider_account::renew_claim(project, account, after.into())?
            }
            Some(_) => continue,
        };
        writes.push((Claimed::Account(account.clone()), write));
    }
    for account in before.provider_accounts.iter().filter(|account| of(after, account).is_none()) {
        let gone = [provider_account::release(project, account, before.id), drop_tokens(project, before.id, account)];
        writes.extend(gone.map(|write| (Claimed::Account(account.clone()), write)));
    }
    Ok(writes)
}

/// What is claimed, and the writes that claim it, by whose numbers they are told apart.
fn labelled(claims: Vec<(Claimed, Write)>) -> (Vec<Claimed>, Vec<Write>) {
    let numbered = claims.into_iter().enumerate();
    numbered.map(|(number, (claimed, write))| (claimed, write.labelled(Label::Claim(number)))).unzip()
}

fn release(project: &ProjectId, user: &User, email: &Email) -> Write {
    let own = "attribute_not_exists(pk) OR d.user_id = :user";
    Write::delete(email_claim_key(project, email)).on(own).value(":user", string(user.id.to_string()))
}

impl Outcome {
    /// Nothing, when it is done, and a conflict otherwise: for who decides anew on whatever stood in the way.
    pub fn done(self) -> Result<(), Error> {
        match self {
            Self::Done => Ok(()),
            Self::Changed | Self::EmailTaken(_) | Self::AccountTaken(_) => Err(Error::conflict()),
        }
    }
}

impl Store {
    /// Writes a new user, with `others` in the same transaction.
    pub async fn create_account(&self, project: &ProjectId, user: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let nothing = User { channels: Vec::new(), provider_accounts: Vec::new(), ..user.clone() };
        let (mut claimed, claims) = labelled(claim_writes(project, &nothing, user)?);
        match self.transact(claims.into_iter().chain([create(project, user)?]).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(conflict)) => match conflict.claim() {
                Some(number) => Ok(claimed.swap_remove(number).into()),
                None => Err(Error::Conflict(conflict)),
            },
            Err(error) => Err(error),
        }
    }

    /// Replaces the user of `row` by `after`, with `others` in the same transaction.
    pub async fn change_account(&self, project: &ProjectId, row: &UserRow, after: &User, others: Vec<Write>) -> Result<Outcome, Error> {
        let outcome = self.replace_account(project, row, after, others).await?;
        if row.user.is_anonymous && !after.is_anonymous && matches!(outcome, Outcome::Done) {
            self.name_personal_team(project, after).await;
        }
        Ok(outcome)
    }

    /// The same when `after` takes an address that `holder` claimed unverified when it was read, and has given up since.
    pub async fn take_email(
        &self,
        project: &ProjectId,
        row: &UserRow,
        after: &User,
        email: &Email,
        holder: &UserRow,
        mut others: Vec<Write>,
    ) -> Result<Outcome, Error> {
        let mut claims = claim_writes(project, &row.user, after)?;
        for (of, write) in &mut claims {
            if let (Claimed::Email(of), Some(channel)) = (of, after.channel_of(email))
                && of == email
            {
                *write = take_email_claim(project, email, &EmailClaim::of(after, channel), holder.user.id)?;
            }
        }
        others.push(replace(project, &holder.user, holder.version)?);
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
        claims: Vec<(Claimed, Write)>,
        others: Vec<Write>,
    ) -> Result<Outcome, Error> {
        let (mut claimed, claims) = labelled(claims);
        let user = replace(project, after, row.version)?.labelled(Label::Account);
        let user = user.tells(trail::events(&row.user, after)).targets(trail::additions(&row.user, after));
        if claims.is_empty() && others.is_empty() {
            return match self.write(user).await {
                Err(Error::Conflict(_)) => Ok(Outcome::Changed),
                result => result.map(|()| Outcome::Done),
            };
        }
        match self.transact([user].into_iter().chain(claims).chain(others)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Account) => Ok(Outcome::Changed),
            Err(Error::Conflict(conflict)) => match conflict.claim() {
                Some(number) => Ok(claimed.swap_remove(number).into()),
                None => Err(Error::Conflict(conflict)),
            },
            Err(error) => Err(error),
        }
    }

    /// A user with what goes when it is deleted: one Query, which reads the user before what it has.
    pub async fn account(&self, project: &ProjectId, id: UserId) -> Result<Option<Account>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND sk BETWEEN :session AND :user")
            .expression_attribute_values(":pk", string(user_key(project, id).pk))
            .expression_attribute_values(":session", string("SESSION#"))
            .expression_attribute_values(":user", string("USER"))
            .scan_index_forward(false)
            .consistent_read(true)
            .limit(i32::try_from(MAX_WRITES).unwrap_or(i32::MAX));
        let (mut row, mut teams, mut sessions) = (None, Vec::new(), Vec::new());
        for item in self.query_page(query).await?.0 {
            let sk = item.get("sk").and_then(|value| value.as_s().ok()).cloned().unwrap_or_default();
            match sk.split_once('#') {
                None => row = Some(UserRow::of(item)?),
                Some(("TEAM", id)) => teams.extend(TeamId::parse(id).ok()),
                Some((_, id)) => sessions.extend(SessionId::parse(id).ok()),
            }
        }
        Ok(row.map(|row| Account { row, teams, sessions }))
    }

    /// Deletes a user with its picture, its providers' tokens and its memberships, and frees its addresses and accounts; its sessions are over with it.
    /// [`Outcome::Changed`] when it changed meanwhile, or has more memberships than one transaction takes: those of `account` that do not
    /// fit are deleted then, and the user is still there to be looked at again, or for the worker to end it ([`crate::deletions`]). Whoever joins
    /// a team changes the user, so none is missed.
    ///
    /// Of the sessions, which tell where the user was, as many go in the same transaction as it holds: more than people have. Others are
    /// good for nothing, and expire.
    pub async fn delete_account(&self, project: &ProjectId, account: &Account, now: Timestamp) -> Result<Outcome, Error> {
        let Account { row, teams, sessions } = account;
        let id = row.user.id;
        let memberships = |teams: &[TeamId]| -> Vec<Write> { teams.iter().flat_map(|team| remove_deleted(project, id, *team)).collect() };
        let user = Write::delete(user_key(project, id)).on("version = :old").value(":old", integer(row.version));
        let user = user.about(id).tells([Event::Deleted]);
        let emails = claimed(&row.user).map(|channel| release(project, &row.user, &channel.value));
        let accounts = account_writes(project, &row.user, &User { provider_accounts: Vec::new(), ..row.user.clone() })?;
        let accounts = accounts.into_iter().map(|(_, write)| write);
        let image = row.user.uploaded_image.as_ref().map(|image| profile_image::delete(project, id, image));
        let all: Vec<Write> = [user].into_iter().chain(emails).chain(accounts).chain(image).collect();
        if teams.len() > MAX_WRITES.saturating_sub(all.len()) / 2 {
            let ending = Ending { project: project.clone(), what: Ended::User { id }, begun_at: now }.note()?;
            self.write(ending.about(id).tells([Event::Deleted])).await?;
            let chunks = teams.chunks(MAX_WRITES / 2).map(|teams| self.transact(memberships(teams)));
            futures_util::future::try_join_all(chunks).await?;
            return Ok(Outcome::Changed);
        }
        let sessions = sessions.iter().map(|session| Write::delete(session_key(project, id, *session)));
        match self.transact(all.into_iter().chain(memberships(teams)).chain(sessions).take(MAX_WRITES)).await {
            Ok(()) => Ok(Outcome::Done),
            Err(Error::Conflict(_)) => Ok(Outcome::Changed),
            Err(error) => Err(error),
        }
    }
}

/// A user with what goes when it is deleted.
#[derive(Debug)]
pub struct Account {
    row: UserRow,
    /// Of very many, some.
    teams: Vec<TeamId>,
    sessions: Vec<SessionId>,
}
