//! Deletes teams without leaving memberships behind.
//!
//! A team that owns projects is not deleted, because nobody would be left to administer the
//! projects. A team with few members is deleted together with them in one transaction. This
//! transaction fails if, since the team was read, anyone has joined, a project has been added, or
//! anything else about the team, such as its picture, has changed. A larger team is marked first:
//! from then on, nobody can see, join, select or change the team. Then the members are deleted in
//! parallel transactions of maximum size, and finally the team itself is deleted. After an
//! interruption, the mark and a note remain, so that a worker completes the deletion
//! ([`crate::deletions`]). Repeating the request also resumes the deletion. The remaining members
//! show what is left to delete.

use std::time::Duration;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::metrics::tally::Tally;
use model::team::Team;
use tokio::time::Instant;
use wire::id::{ProjectId, TeamId, UserId};

use crate::deletions::{DeletionTarget, PendingDeletion};
use crate::keys::team_key;
use crate::metrics::activity;
use crate::profile_image;
use crate::table::{Error, Item, Label, MAX_WRITES, Store, Write, entity, integer};
use crate::team::founding::unfounds;
use crate::team::membership::{MAX_REMOVE_WRITES, MemberRow, remove, remove_but_selection};
use crate::team::{TeamRow, invitation};

/// The number of members that one transaction deletes, in addition to the team, its picture, its
/// last day of activity, the count of its invitations, and its place in its creator's quota.
const AT_ONCE: usize = (MAX_WRITES - 5) / MAX_REMOVE_WRITES;
/// The number of parallel transactions.
const SIDE_BY_SIDE: usize = 8;
/// The time that one call spends on deleting members; the operation's Lambda has ten seconds.
const BUDGET: Duration = Duration::from_secs(6);

/// The outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// The team and all memberships have been deleted.
    Done,
    /// The team does not exist.
    Missing,
    /// The team owns projects, and was not deleted.
    OwnsProjects,
    /// Time ran out before the team and all memberships were deleted: the caller must call again.
    Unfinished,
}

/// A team to delete and its first members, read after the team.
#[derive(Debug)]
pub struct DoomedTeam {
    team: Option<Item>,
    members: Vec<MemberRow>,
}

impl Store {
    /// Reads the team and its first members.
    pub async fn doomed(&self, project: &ProjectId, id: TeamId) -> Result<DoomedTeam, Error> {
        let (team, members) = self.team_with_members(project, id, AT_ONCE * SIDE_BY_SIDE).await?;
        Ok(DoomedTeam { team, members })
    }

    /// Deletes a team; `first` is the result of [`Self::doomed`]. If a member makes the request,
    /// that member (`last`) is deleted last and can repeat the request until then.
    pub async fn delete_team(
        &self,
        project: &ProjectId,
        id: TeamId,
        last: Option<UserId>,
        first: DoomedTeam,
        now: Timestamp,
    ) -> Result<Deletion, Error> {
        // The team's creator may have been deleted.
        let (end, mut doomed, mut has_founder) = (Instant::now() + BUDGET, first, true);
        while Instant::now() < end {
            let DoomedTeam { team: Some(item), members } = doomed else { return Ok(Deletion::Missing) };
            let (is_large, row) = (members.len() > AT_ONCE, TeamRow::of(item.clone())?);
            if row.is_some() && self.owns_projects(project, id).await? {
                return Ok(Deletion::OwnsProjects);
            }
            let step = match row {
                Some(row) if is_large => self.mark_deleting(project, &row, now).await,
                None if is_large => self.purge(project, &members, last).await,
                row => {
                    let mut team: Team = entity(item)?;
                    team.founder = team.founder.filter(|_| has_founder);
                    self.transact(whole(project, &team, row.as_ref(), &members)).await
                }
            };
            match step {
                Ok(()) if !is_large => return Ok(Deletion::Done),
                // There are more members, or the members or the team have changed, so they are read
                // again.
                Ok(()) => doomed = self.doomed(project, id).await?,
                Err(Error::Conflict(conflict)) => {
                    has_founder &= !conflict.is_of(Label::User);
                    doomed = self.doomed(project, id).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Deletion::Unfinished)
    }

    async fn mark_deleting(&self, project: &ProjectId, row: &TeamRow, now: Timestamp) -> Result<(), Error> {
        let mark = Write::update(team_key(project, row.team.id), "SET deleting = :version REMOVE gsi1pk, gsi1sk");
        let mark = mark.on("joins = :joins AND attribute_not_exists(deleting)").tallies(&Tally::teams(-1));
        let mark = mark.value(":version", integer(row.version)).value(":joins", integer(row.joins));
        let ending = PendingDeletion { project: project.clone(), what: DeletionTarget::Team { id: row.team.id }, begun_at: now };
        self.transact([mark, ending.note()?]).await
    }

    async fn purge(&self, project: &ProjectId, members: &[MemberRow], last: Option<UserId>) -> Result<(), Error> {
        let members: Vec<&MemberRow> = members.iter().filter(|row| Some(row.user_id) != last).collect();
        let chunks =
            members.chunks(AT_ONCE).map(|chunk| self.transact(chunk.iter().flat_map(|row| remove(project, row)).collect::<Vec<_>>()));
        try_join_all(chunks).await.map(drop)
    }
}

/// Deletes a team with its picture and all its members, unless someone has joined or changed the
/// team since `row` was read; `row` is `None` for a marked team.
fn whole(project: &ProjectId, team: &Team, row: Option<&TeamRow>, members: &[MemberRow]) -> Vec<Write> {
    let delete = Write::delete(team_key(project, team.id));
    let delete = match row {
        Some(row) => delete
            .on("joins = :joins AND version = :version")
            .value(":joins", integer(row.joins))
            .value(":version", integer(row.version))
            .tallies(&Tally::teams(-1)),
        // Nobody can join or change a marked team.
        None => delete.on("attribute_exists(deleting)"),
    };
    let image = team.uploaded_image.as_ref().map(|image| profile_image::delete(project, team.id, image));
    let active = Write::delete(activity::team_key(project, team.id));
    let is_founder = |row: &&MemberRow| Some(row.user_id) == team.founder;
    // A transaction may contain the founder's item only once, so the write that removes the team
    // from the founder's quota also clears the selection.
    let removed = members.iter().flat_map(|row| if is_founder(&row) { remove_but_selection(project, row) } else { remove(project, row) });
    let is_selected = members.iter().find(is_founder).is_some_and(|row| row.is_selected);
    let room = team.founder.map(|founder| unfounds(project, founder, team.id, is_selected));
    let others = [delete, active, invitation::uncount_all(project, team.id)];
    others.into_iter().chain(image).chain(room).chain(removed).collect()
}
