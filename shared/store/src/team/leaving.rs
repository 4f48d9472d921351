//! Removes a user whose account has changed hands from all teams, because the previous owner may
//! have let other people into the teams.
//!
//! The memberships are deleted in the transaction that hands the account over. Memberships that do
//! not fit into this transaction are deleted first. The transaction fails if the user has joined
//! another team in the meantime, because joining changes the user.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::user_key;
use crate::table::{BATCH, Error, Label, MAX_WRITES, Store, Write, is_made};
use crate::team::membership::{MAX_REMOVE_WRITES, MemberRow, member_key, remove, remove_but_selection};

/// The maximum number of writes in [`Departure::writes`] for each team that the user leaves.
pub const MAX_LEAVE_WRITES: usize = 3;
/// The maximum number of memberships that one call deletes in addition to those in the transaction;
/// repeating the request deletes more.
const MAX_AT_ONCE: usize = 1000;
/// The maximum number of invitations revoked in one call. Any remaining invitations are invalid
/// anyway ([`invitation`](super::invitation)), and expire.
const MAX_REVOKED: usize = 100;

/// The teams that a user leaves.
#[derive(Debug, Default)]
pub struct Departure {
    /// The teams in [`Self::writes`].
    pub teams: BTreeSet<TeamId>,
    /// The writes that delete the remaining memberships, labelled [`Label::Member`]. These writes
    /// do not change the user, who may have selected one of the teams.
    pub writes: Vec<Write>,
}

impl Store {
    /// Starts to remove a user from all teams: deletes all except `room` memberships, revokes the
    /// invitations that the user has sent, and forgets which teams the user has created. In the
    /// project `internal`, the user stays in teams that own projects and have no other members,
    /// because someone must be able to administer the projects.
    ///
    /// Costs a unit to read about 15 memberships, two units to delete each membership, and half a
    /// unit for each team's invitations.
    pub async fn leave_teams(&self, project: &ProjectId, user: UserId, room: usize) -> Result<Departure, Error> {
        let mut rows = self.members_of_all(project, user).await?;
        if project.is_internal() {
            let owned = try_join_all(rows.iter().map(|row| self.is_last_owner(project, row.team_id, user))).await?;
            rows = rows.into_iter().zip(owned).filter(|(_, is_last)| !is_last).map(|(row, _)| row).collect();
        }
        self.revoke_sent(project, user, &rows).await?;
        self.forget_founded(project, user).await?;
        // The write that changes the user also deletes the selection if the transaction has room
        // for this membership.
        rows.sort_by_key(|row| !row.is_selected);
        let others = rows.split_off(room.min(rows.len()));
        for some in others.chunks(MAX_WRITES / MAX_REMOVE_WRITES).take(MAX_AT_ONCE.div_ceil(MAX_WRITES / MAX_REMOVE_WRITES)) {
            let deleted = self.transact_unrecorded(some.iter().flat_map(|row| remove(project, row)).collect()).await;
            deleted.map_err(|error| match error {
                Error::Conflict(_) => Error::Unavailable("the user's memberships have changed meanwhile".to_owned()),
                error => error,
            })?;
        }
        if others.len() > MAX_AT_ONCE {
            return Err(Error::Unavailable("the user has so many memberships that they cannot all be deleted in one request".to_owned()));
        }
        let writes = rows.iter().flat_map(|row| remove_but_selection(project, row)).map(|write| write.labelled(Label::Member)).collect();
        Ok(Departure { teams: rows.iter().map(|row| row.team_id).collect(), writes })
    }

    /// The user's member items, including those in teams that are being deleted.
    async fn members_of_all(&self, project: &ProjectId, user: UserId) -> Result<Vec<MemberRow>, Error> {
        let mut rows = Vec::new();
        for some in self.memberships(project, user).await?.chunks(BATCH) {
            let keys: Vec<_> = some.iter().map(|membership| member_key(project, membership.team_id, user)).collect();
            let mut items = self.get_many(keys.clone()).await?;
            for item in keys.iter().filter_map(|key| items.take(key)) {
                rows.push(MemberRow::of(item)?);
            }
        }
        Ok(rows)
    }

    /// Revokes the user's invitations to these teams.
    async fn revoke_sent(&self, project: &ProjectId, user: UserId, rows: &[MemberRow]) -> Result<(), Error> {
        let mut revoked = 0;
        for row in rows {
            let (invitations, _) = self.invitations_to(project, row.team_id, None, MAX_REVOKED).await?;
            let sent = invitations.iter().filter(|invitation| invitation.invited_by == Some(user)).take(MAX_REVOKED - revoked);
            for invitation in sent {
                self.revoke_unrecorded(project, invitation).await?;
                revoked += 1;
            }
            if revoked == MAX_REVOKED {
                break;
            }
        }
        Ok(())
    }

    /// Forgets which teams the user has created, because they now belong to someone else.
    async fn forget_founded(&self, project: &ProjectId, user: UserId) -> Result<(), Error> {
        let forget = Write::update(user_key(project, user), "REMOVE founded").on("attribute_exists(founded)");
        is_made(self.write_unrecorded(forget).await).map(drop)
    }
}
