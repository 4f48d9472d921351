//! Users, and the claims that prevent two users from signing in with the same email address or
//! provider account.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | user | `U#<P>#<user>` | `USER` | gsi1 `P#<P>#USERS#<shard>` / sign-up time, id; gsi2, see [`by_activity`] |
//! | last day of activity | `U#<P>#<user>` | `ACTIVE`, see [`crate::metrics::activity`] | |
//! | claim of an address | `E#<P>#<email address>` | `CLAIM` | gsi2, see [`by_word`] |
//! | words | see [`by_word`] | | |
//!
//! Replacing a user is conditional on its version. A claim exists if and only if a user can sign in
//! with the email address. The claim is written in the same transaction as the user. The claim
//! repeats the user's fields that are needed when only the address is known, which saves reading
//! the user. Changing a user costs one unit for each KB of the user, and the same again in `gsi1`.
//! With claims, the change is a transaction at two units for each KB of each item.

pub mod account;
pub mod by_activity;
pub mod by_word;
pub mod device;
pub mod list;
pub mod password;
mod place;
pub mod tallies;
mod upgrade;

use std::collections::{BTreeSet, HashMap, HashSet};

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use model::email::Email;
use model::email::category::Category;
use model::metrics::tally::Tally;
use model::project::SendingProject;
use model::trail::Event;
use model::user::totp::Authenticator;
use model::user::{Channel, User};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::{project_key, user_key};
use crate::table::{Error, Item, Key, Label, Store, Write, entity, integer, number, string};
use crate::user::place::{at_address, position, shard};

pub use crate::user::place::USER_SHARDS;

/// A user, with the attributes that are stored outside the entity.
#[derive(Debug, Clone)]
pub struct UserRow {
    /// The user.
    pub user: User,
    /// The version that was read.
    pub version: u64,
    /// The time when the user was last active.
    pub last_active_at: Timestamp,
}

/// The claim of the user who signs in with an email address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmailClaim {
    /// The user.
    pub user_id: UserId,
    /// Whether the address has been proved ([`Channel::is_proved`]).
    pub is_verified: bool,
    /// The user's credential epoch, which is part of codes for the address.
    #[serde(default)]
    pub epoch: u64,
    /// Whether the user has disabled signing in with emailed codes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refuses_codes: bool,
}

impl EmailClaim {
    /// The claim to a sign-in address of `user`.
    pub fn of(user: &User, channel: &Channel) -> Self {
        Self { user_id: user.id, is_verified: channel.is_proved(), epoch: user.credential_epoch, refuses_codes: user.otp_refused }
    }
}

/// The key of an address's claim.
pub fn email_claim_key(project: &ProjectId, email: &Email) -> Key {
    Key::new(format!("E#{project}#{email}"), "CLAIM")
}

pub(crate) fn list_partition(project: &ProjectId, shard: u8) -> String {
    format!("P#{project}#USERS#{shard}")
}

impl UserRow {
    /// Reads a user from the item that contains it.
    pub fn of(item: Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        let last_active = number(&item, "last_active_at").and_then(|millis| Timestamp::from_millisecond(millis).ok());
        let user: User = entity(item)?;
        Ok(Self { version, last_active_at: last_active.unwrap_or(user.signed_up_at), user })
    }
}

/// Writes a new user. The words by which the user is found need separate writes
/// ([`by_word::words`]).
pub fn create(project: &ProjectId, user: &User) -> Result<Write, Error> {
    let (active, hour) = place::by_activity(project, user.id, user.signed_up_at);
    Ok(Write::create(user_key(project, user.id), user)?
        .about(user.id)
        .tells([Event::Created])
        .tallies(&Tally::change(None, Some(user)))
        .attribute("version", integer(1))
        .attribute("last_active_at", integer(user.signed_up_at.as_millisecond()))
        .attribute("gsi1pk", string(list_partition(project, shard(user.id))))
        .attribute("gsi1sk", string(list_position(user)))
        .attribute("gsi2pk", string(active))
        .attribute("gsi2sk", string(hour)))
}

/// Replaces a user who has not changed since `version`. A new name or address also needs the writes
/// of [`by_word::words`].
pub fn replace(project: &ProjectId, user: &User, version: u64) -> Result<Write, Error> {
    Ok(Write::update(user_key(project, user.id), "SET d = :d, version = :new, gsi1sk = :position")
        .on("version = :old")
        .about(user.id)
        .entity(":d", user)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1))
        .value(":position", string(list_position(user))))
}

/// Fails the transaction if the user has changed since it was read.
pub fn unchanged(project: &ProjectId, user: UserId, version: u64) -> Write {
    Write::check(user_key(project, user), "version = :old").value(":old", integer(version))
}

/// Fails the transaction unless the user is still in this credential epoch.
pub fn at_epoch(project: &ProjectId, user: UserId, epoch: u64) -> Write {
    Write::check(user_key(project, user), &in_epoch(epoch)).value(":credentials", integer(epoch)).labelled(Label::User)
}

/// The condition that a user is in the credential epoch `:credentials`. Items from earlier versions
/// do not contain an epoch and count as epoch 0.
pub(crate) fn in_epoch(epoch: u64) -> String {
    let first = if epoch == 0 { " OR attribute_not_exists(d.credential_epoch)" } else { "" };
    format!("attribute_exists(pk) AND (d.credential_epoch = :credentials{first})")
}

/// Fails the transaction unless this user signs in with the email address and has proved it.
pub fn has_verified_email(project: &ProjectId, email: &Email, user: UserId) -> Write {
    Write::check(email_claim_key(project, email), "d.user_id = :user AND d.is_verified = :yes")
        .value(":user", string(user.to_string()))
        .value(":yes", AttributeValue::Bool(true))
}

/// Records the time step of a code from one of the authenticator apps of `user`. Each code is
/// accepted once, and only if the app's secret and the user's epochs have not changed since they
/// were read. Increments the version, so that no concurrent change to the user resets the time
/// step.
pub fn use_totp_step(project: &ProjectId, user: &User, app: &Authenticator, step: u64, now: Timestamp) -> Result<Write, Error> {
    let more = user.totp.iter().flat_map(|totp| &totp.more);
    let path = more
        .zip(0..)
        .find(|(other, _)| other.id == app.id)
        .map_or_else(|| "d.totp".to_owned(), |(_, position)| format!("d.totp.more[{position}]"));
    let unchanged = format!(
        "{path}.secret = :secret AND {path}.last_step < :step AND d.session_epoch = :epoch AND {}",
        in_epoch(user.credential_epoch)
    );
    let update = format!("SET {path}.last_step = :step, {path}.last_used_at = :now, version = version + :one");
    Ok(Write::update(user_key(project, user.id), update)
        .labelled(Label::TotpStep)
        .on(unchanged)
        .about(user.id)
        .value(":credentials", integer(user.credential_epoch))
        .entity(":secret", &app.secret)?
        .value(":step", integer(step))
        .value(":now", integer(now.as_millisecond()))
        .value(":epoch", integer(user.session_epoch))
        .value(":one", integer(1)))
}

/// Records which of a user's teams require a second factor. Fails if the user has changed since
/// `version`, for example by joining another team that requires a second factor. Increments the
/// version, so that no concurrent change to the user reverts the record.
pub fn note_second_factor_teams(project: &ProjectId, user: UserId, version: u64, teams: &BTreeSet<TeamId>) -> Result<Write, Error> {
    Write::update(user_key(project, user), "SET d.second_factor_teams = :teams, version = :new")
        .on("version = :old")
        .value(":old", integer(version))
        .value(":new", integer(version + 1))
        .entity(":teams", teams)
}

/// Records that additional teams of a user require a second factor; fails if the user does not
/// exist. Increments the version, so that no concurrent change to the user reverts the record.
pub fn add_second_factor_teams<'a>(project: &ProjectId, user: UserId, teams: impl IntoIterator<Item = &'a TeamId>) -> Write {
    let teams = teams.into_iter().map(|team| string(team.to_string())).collect();
    let set = "SET version = version + :one, d.second_factor_teams = list_append(if_not_exists(d.second_factor_teams, :none), :teams)";
    Write::update(user_key(project, user), set)
        .on("attribute_exists(pk)")
        .value(":one", integer(1))
        .value(":none", AttributeValue::L(Vec::new()))
        .value(":teams", AttributeValue::L(teams))
}

/// Sets whether a user is unsubscribed from a category; fails if the user does not exist.
/// Increments the version, so that no concurrent change to the user reverts the setting.
pub fn set_refused(project: &ProjectId, user: UserId, category: Category, is_refused: bool) -> Result<Write, Error> {
    // There is only one category to unsubscribe from, so the list either contains this category or
    // is empty.
    let refused: Vec<Category> = Some(category).filter(|category| is_refused && category.can_be_refused()).into_iter().collect();
    Ok(Write::update(user_key(project, user), "SET d.refused_categories = :refused, version = version + :one")
        .on("attribute_exists(pk)")
        .about(user)
        .entity(":refused", &refused)?
        .value(":one", integer(1)))
}

/// Clears the selection of a team that the user has left; fails if another team is selected, or no
/// team.
pub(crate) fn deselect_team(project: &ProjectId, user: UserId, team: TeamId) -> Write {
    Write::update(user_key(project, user), "REMOVE d.selected_team_id SET version = version + :one")
        .on("d.selected_team_id = :team")
        .value(":team", string(team.to_string()))
        .value(":one", integer(1))
}

fn list_position(user: &User) -> String {
    position(user.signed_up_at, user.id)
}

/// Claims an email address that no user signs in with.
pub fn claim_email(project: &ProjectId, email: &Email, claim: &EmailClaim) -> Result<Write, Error> {
    let write = Write::create(email_claim_key(project, email), claim)?;
    Ok(at_address(write, project, claim.user_id, email).labelled(Label::Claim(0)))
}

/// Renews this user's claim to an email address, or claims the address if no user has claimed it.
pub fn renew_email_claim(project: &ProjectId, email: &Email, claim: &EmailClaim) -> Result<Write, Error> {
    let write = at_address(Write::put(email_claim_key(project, email), claim)?, project, claim.user_id, email);
    Ok(write.on("attribute_not_exists(pk) OR d.user_id = :user").value(":user", string(claim.user_id.to_string())))
}

/// Takes over the claim to an email address from a user who has not proved the address.
pub(crate) fn take_email_claim(project: &ProjectId, email: &Email, claim: &EmailClaim, from: UserId) -> Result<Write, Error> {
    let write = at_address(Write::put(email_claim_key(project, email), claim)?, project, claim.user_id, email);
    Ok(write
        .on("d.user_id = :from AND d.is_verified = :no")
        .value(":from", string(from.to_string()))
        .value(":no", AttributeValue::Bool(false)))
}

impl Store {
    /// The user with this id.
    pub async fn user(&self, project: &ProjectId, id: UserId) -> Result<Option<UserRow>, Error> {
        self.get(&user_key(project, id)).await?.map(UserRow::of).transpose()
    }

    /// Reads these projects, with the fields needed to send emails, and these users in one round
    /// trip; at most 100 in total. Nonexistent projects are left out; nonexistent users are `None`.
    pub async fn parties(
        &self,
        projects: HashSet<ProjectId>,
        users: HashSet<(ProjectId, UserId)>,
    ) -> Result<(HashMap<ProjectId, SendingProject>, HashMap<(ProjectId, UserId), Option<User>>), Error> {
        let keys = projects.iter().map(project_key).chain(users.iter().map(|(project, user)| user_key(project, *user)));
        let mut items = self.get_many(keys.collect::<Vec<_>>()).await?;
        let mut found = HashMap::new();
        for id in projects {
            if let Some(project) = items.entity(&project_key(&id))? {
                found.insert(id, project);
            }
        }
        let users = users.into_iter().map(|(project, id)| Ok(((project.clone(), id), items.entity(&user_key(&project, id))?)));
        Ok((found, users.collect::<Result<_, Error>>()?))
    }

    /// The claim to this email address. Costs one read unit.
    pub async fn email_claim(&self, project: &ProjectId, email: &Email) -> Result<Option<EmailClaim>, Error> {
        self.get(&email_claim_key(project, email)).await?.map(entity).transpose()
    }

    /// The ids of all users of a project, one shard after another, each in the order of sign-up.
    /// Costs half a unit for each 4 KB.
    pub async fn user_ids(&self, project: &ProjectId) -> Result<Vec<UserId>, Error> {
        let mut ids = Vec::new();
        for shard in 0..USER_SHARDS {
            for item in self.query_all(self.query_list(list_partition(project, shard)).projection_expression("gsi1sk")).await? {
                let position = item.get("gsi1sk").and_then(|value| value.as_s().ok());
                ids.extend(position.and_then(|text| text.split('#').nth(1)).and_then(|id| UserId::parse(id).ok()));
            }
        }
        Ok(ids)
    }
}
