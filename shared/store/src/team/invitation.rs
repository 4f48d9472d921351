//! Invitations to teams.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | invitation | `I#<P>#<id>` | `INVITATION` | gsi1 `T#<P>#<team>#INVITATIONS` / id; gsi2 `I#<P>#<address>` / id, team, sender if a member |
//! | count of a team's invitations | `T#<P>#<team>` | `INVITED` | `waiting`: the invitations sent by members, a set of expiry and id |
//! | code of an invitation | `C#<P>#team-invitation#<digest of the nonce>` | `CODE` | see [`crate::code`] |
//!
//! The invitation and its code are always written in one transaction. Accepting marks the code as
//! used and deletes the invitation; revoking deletes both. Because of the condition on the code,
//! only one of several concurrent attempts to accept succeeds. If a member sent the invitation, the
//! same transaction also checks the sender, which costs four more units. The sender must still be a
//! member; since the invitation was sent, the sender's account must not have changed hands, and no
//! intruder may have been reported. The invitation and its code expire by TTL after seven days;
//! until then, invitations to a deleted team remain, but cannot be accepted. A condition on the set
//! `waiting` decides whether a member may send another invitation. Expired invitations stay in this
//! set until the set is full. Creating, accepting or revoking an invitation costs two units for
//! each item and two in the indexes; a list is one Query at half a unit for about 25 invitations.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::code::{Code, CodeRefusal};
use model::email::Email;
use model::limit::Subject;
use model::team::Team;
use model::team::invitation::{Invitation, LIFE};
use model::trail::{Target, TargetKind};
use model::user::User;
use wire::clock::after;
use wire::id::{InvitationId, ProjectId, TeamId, UserId};

use crate::code::{create_at, redeem_at};
use crate::keys::{team_key, user_key};
use crate::table::row::Items;
use crate::table::sharded::MAX_READ_BYTES;
use crate::table::{Error, Key, Label, Store, Write, entity, integer, is_made, string};
use crate::team::membership::{is_member, member_key};
use crate::team::{TeamRow, partition};

/// The purpose that identifies invitations in the keys of codes.
pub const PURPOSE: &str = "team-invitation";

/// The number of invitations to an address read at a time; their teams take up to 100 KB each.
const AT_ONCE: usize = 10;

/// An entry in the index of an address: the id of an invitation, the team, and the member who sent
/// the invitation ([`Invitation::invited_by`]).
type InvitationEntry = (InvitationId, TeamId, Option<UserId>);

fn invitation_key(project: &ProjectId, id: InvitationId) -> Key {
    Key::new(format!("I#{project}#{id}"), "INVITATION")
}

fn code_key(project: &ProjectId, invitation: &Invitation) -> Key {
    Key::new(format!("C#{project}#{PURPOSE}#{}", invitation.nonce_digest), "CODE")
}

/// The partition of the index that lists the invitations to a team.
pub(crate) fn list_partition(project: &ProjectId, team: TeamId) -> String {
    format!("T#{project}#{team}#INVITATIONS")
}

/// The keys of an invitation and its code.
pub(crate) fn keys(project: &ProjectId, invitation: &Invitation) -> [Key; 2] {
    [invitation_key(project, invitation.id), code_key(project, invitation)]
}

fn targets(invitation: &Invitation) -> [Target; 2] {
    [Target::new(TargetKind::Team, invitation.team_id), Target::new(TargetKind::Invitation, invitation.id)]
}

/// Writes an invitation and its code.
pub fn create(project: &ProjectId, invitation: &Invitation, code: &Code) -> Result<[Write; 2], Error> {
    let (id, team) = (invitation.id, invitation.team_id);
    let sender = invitation.invited_by.map(|sender| format!("#{sender}")).unwrap_or_default();
    let write = Write::create(invitation_key(project, id), invitation)?
        .targets(targets(invitation))
        .attribute("gsi1pk", string(list_partition(project, team)))
        .attribute("gsi1sk", string(id.to_string()))
        .attribute("gsi2pk", string(format!("I#{project}#{}", invitation.email)))
        .attribute("gsi2sk", string(format!("{id}#{team}{sender}")))
        .expires(invitation.expires_at);
    Ok([create_at(code_key(project, invitation), code, invitation, invitation.expires_at)?, write])
}

fn count_key(project: &ProjectId, team: TeamId) -> Key {
    Key::new(partition(project, team), "INVITED")
}

/// The element of `waiting` for an invitation; later expiries sort later.
fn counted_as(invitation: &Invitation) -> String {
    format!("{:015}#{}", invitation.expires_at.as_millisecond(), invitation.id)
}

/// Counts an invitation by a member; fails with [`Label::Count`] if the team already has `max`
/// pending invitations by members.
pub fn count(project: &ProjectId, invitation: &Invitation, max: usize) -> Write {
    Write::update(count_key(project, invitation.team_id), "SET #ttl = :ttl ADD waiting :new")
        .labelled(Label::Count)
        .on("attribute_not_exists(waiting) OR size(waiting) < :max")
        .name("#ttl", "ttl")
        .value(":ttl", integer(invitation.expires_at.as_second()))
        .value(":new", AttributeValue::Ss(vec![counted_as(invitation)]))
        .value(":max", integer(max))
}

/// Removes an accepted or revoked invitation from the count, if a member sent the invitation.
/// Earlier versions did not count invitations, so this write may create the item, which then
/// expires with the invitation.
fn uncount(project: &ProjectId, invitation: &Invitation) -> Option<Write> {
    let update = "SET #ttl = if_not_exists(#ttl, :ttl) DELETE waiting :ended";
    let write = Write::update(count_key(project, invitation.team_id), update)
        .name("#ttl", "ttl")
        .value(":ttl", integer(invitation.expires_at.as_second()))
        .value(":ended", AttributeValue::Ss(vec![counted_as(invitation)]));
    invitation.invited_by.map(|_| write)
}

/// Deletes the count of a team, as part of the team's deletion.
pub(crate) fn uncount_all(project: &ProjectId, team: TeamId) -> Write {
    Write::delete(count_key(project, team))
}

/// Ends an invitation by accepting it; only one of several concurrent attempts succeeds. Fails if
/// the sender of the invitation is no longer a member, or if the sender's account is in another
/// epoch.
pub fn accept(project: &ProjectId, invitation: &Invitation) -> Vec<Write> {
    let gone = Write::delete(invitation_key(project, invitation.id)).on("attribute_exists(pk)").targets(targets(invitation));
    let sender = invitation.invited_by.map(|sender| {
        let is_same = at_owner_epoch(project, sender, invitation.sender_epoch);
        [is_member(project, invitation.team_id, sender), is_same].map(|check| check.labelled(Label::Member))
    });
    let ends = [redeem_at(code_key(project, invitation)), gone.labelled(Label::Code)];
    ends.into_iter().chain(sender.into_iter().flatten()).chain(uncount(project, invitation)).collect()
}

/// The keys of the sender's items, if the invitation names a sender.
fn sender_keys(project: &ProjectId, team: TeamId, sender: Option<UserId>) -> impl Iterator<Item = Key> {
    sender.into_iter().flat_map(move |sender| [member_key(project, team, sender), user_key(project, sender)])
}

/// Whether the sender of an invitation is still a member in the invitation's epoch, according to
/// the items read with [`sender_keys`].
fn is_sender_valid(project: &ProjectId, invitation: &Invitation, items: &Items) -> Result<bool, Error> {
    let Some(sender) = invitation.invited_by else { return Ok(true) };
    let user = items.read::<User>(&user_key(project, sender))?;
    let is_member = items.has(&member_key(project, invitation.team_id, sender));
    Ok(is_member && user.is_some_and(|user| user.owner_epoch == invitation.sender_epoch))
}

/// Fails the transaction if the user's account has changed hands or an intruder has been reported
/// since this epoch.
fn at_owner_epoch(project: &ProjectId, user: UserId, epoch: u64) -> Write {
    if epoch == 0 {
        return Write::check(user_key(project, user), "attribute_exists(pk) AND attribute_not_exists(d.owner_epoch)");
    }
    Write::check(user_key(project, user), "d.owner_epoch = :epoch").value(":epoch", integer(epoch))
}

/// Ends an invitation by revoking it.
fn revoke(project: &ProjectId, invitation: &Invitation) -> Vec<Write> {
    let gone = Write::delete(invitation_key(project, invitation.id)).on("attribute_exists(pk)").targets(targets(invitation));
    [gone, Write::delete(code_key(project, invitation))].into_iter().chain(uncount(project, invitation)).collect()
}

impl Store {
    /// The invitation with this id.
    pub async fn invitation(&self, project: &ProjectId, id: InvitationId) -> Result<Option<Invitation>, Error> {
        self.get(&invitation_key(project, id)).await?.map(entity).transpose()
    }

    /// Whether the sender of an invitation is a member of the team, in the epoch of the invitation.
    /// Also `true` if the invitation does not name a sender ([`Invitation::invited_by`]). Costs two
    /// units if the invitation names a sender.
    pub async fn has_valid_sender(&self, project: &ProjectId, invitation: &Invitation) -> Result<bool, Error> {
        let items = self.get_many(sender_keys(project, invitation.team_id, invitation.invited_by)).await?;
        is_sender_valid(project, invitation, &items)
    }

    /// Revokes an invitation; `false` if it no longer exists.
    pub async fn revoke_invitation(&self, project: &ProjectId, invitation: &Invitation) -> Result<bool, Error> {
        is_made(self.transact(revoke(project, invitation)).await)
    }

    /// Revokes an invitation as part of another change, unless it has already ended.
    pub(super) async fn revoke_unrecorded(&self, project: &ProjectId, invitation: &Invitation) -> Result<(), Error> {
        is_made(self.transact_unrecorded(revoke(project, invitation)).await).map(drop)
    }

    /// Removes expired invitations from the count of a team; `false` if there are no expired
    /// invitations. Costs a unit for each 4 KB of the count, and another one for each KB if the
    /// count changes.
    pub async fn uncount_expired(&self, project: &ProjectId, team: TeamId, now: Timestamp) -> Result<bool, Error> {
        let key = count_key(project, team);
        let waiting = self.get(&key).await?.and_then(|item| item.get("waiting").and_then(|value| value.as_ss().ok()).cloned());
        let now = format!("{:015}", now.as_millisecond());
        let expired: Vec<String> = waiting.into_iter().flatten().filter(|one| *one < now).collect();
        if expired.is_empty() {
            return Ok(false);
        }
        let write = Write::update(key, "DELETE waiting :ended").on("attribute_exists(pk)").value(":ended", AttributeValue::Ss(expired));
        is_made(self.write_unrecorded(write).await).map(|_| true)
    }

    /// Counts the caller's attempt at the code of an invitation and checks the code, without
    /// accepting the invitation.
    pub async fn try_invitation(
        &self,
        project: &ProjectId,
        code: &Code,
        caller: &Subject,
        now: Timestamp,
    ) -> Result<Result<Invitation, CodeRefusal>, Error> {
        let (stored, attempts) = self.try_code_as(project, PURPOSE, code, caller, after(now, LIFE)).await?;
        Ok(Invitation::check(stored, attempts, now))
    }

    /// Up to `limit` invitations to a team, oldest first, after the id `after` if set, and whether
    /// there may be more.
    pub async fn invitations_to(
        &self,
        project: &ProjectId,
        team: TeamId,
        after: Option<InvitationId>,
        limit: usize,
    ) -> Result<(Vec<Invitation>, bool), Error> {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk AND gsi1sk > :after");
        let query = query
            .expression_attribute_values(":pk", string(list_partition(project, team)))
            // Ids begin with a digit or a letter, all of which sort after `!`.
            .expression_attribute_values(":after", string(after.map_or_else(|| "!".to_owned(), |id| id.to_string())))
            .limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let (items, more) = self.query_page(query).await?;
        Ok((items.into_iter().map(entity).collect::<Result<_, _>>()?, more.is_some()))
    }

    /// Up to `limit` invitations to these email addresses, with their teams, oldest first, after
    /// the id `after` if set. Also returns the id to continue after, if there may be more. Leaves
    /// out invitations to deleted teams or without a valid sender ([`Self::has_valid_sender`]).
    /// Returns fewer invitations if their teams and senders take more than 2 MB.
    pub async fn invitations_for(
        &self,
        project: &ProjectId,
        emails: &[Email],
        after: Option<InvitationId>,
        limit: usize,
    ) -> Result<(Vec<(Invitation, Team)>, Option<InvitationId>), Error> {
        let found = try_join_all(emails.iter().map(|email| self.invited(project, email))).await?;
        let mut found: Vec<InvitationEntry> =
            found.into_iter().flatten().filter(|(id, ..)| after.is_none_or(|after| *id > after)).collect();
        found.sort_unstable();
        let next = found.get(limit.saturating_sub(1)).filter(|_| found.len() > limit).map(|(id, ..)| *id);
        found.truncate(limit);
        let (mut invitations, mut read, mut last) = (Vec::new(), 0, None);
        for chunk in found.chunks(AT_ONCE) {
            if read > MAX_READ_BYTES {
                return Ok((invitations, last));
            }
            let keys = chunk.iter().flat_map(|(id, team, sender)| {
                [invitation_key(project, *id), team_key(project, *team)].into_iter().chain(sender_keys(project, *team, *sender))
            });
            // Invitations may share a team or a sender, but a batch must not contain a key twice.
            let keys: std::collections::HashSet<Key> = keys.collect();
            let mut items = self.get_many(keys).await?;
            read += items.bytes();
            last = chunk.last().map(|(id, ..)| *id);
            let mut teams = HashMap::new();
            for (id, team, _) in chunk {
                if let Some(row) = items.take(&team_key(project, *team)).map_or(Ok(None), TeamRow::of)? {
                    // Leaves out the teams' metadata, because a page does not show it.
                    let (client_metadata, server_metadata) = (None, None);
                    teams.insert(*team, Team { client_metadata, server_metadata, client_read_only_metadata: None, ..row.team });
                }
                let invitation: Option<Invitation> = items.entity(&invitation_key(project, *id))?;
                if let Some(found) = invitation.zip(teams.get(team).cloned())
                    && is_sender_valid(project, &found.0, &items)?
                {
                    invitations.push(found);
                }
            }
        }
        Ok((invitations, next))
    }

    async fn invited(&self, project: &ProjectId, email: &Email) -> Result<Vec<InvitationEntry>, Error> {
        let query = self.query().index_name("gsi2").key_condition_expression("gsi2pk = :pk");
        let query = query.expression_attribute_values(":pk", string(format!("I#{project}#{email}")));
        let mut found = Vec::new();
        for item in self.query_all(query).await? {
            let mut position = item.get("gsi2sk").and_then(|value| value.as_s().ok()).map(|text| text.split('#')).into_iter().flatten();
            let (id, team) = (position.next().map(InvitationId::parse), position.next().map(TeamId::parse));
            let sender = position.next().map(UserId::parse).transpose();
            if let (Some(Ok(id)), Some(Ok(team)), Ok(sender)) = (id, team, sender) {
                found.push((id, team, sender));
            }
        }
        Ok(found)
    }
}
