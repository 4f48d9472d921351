//! Deleting a team leaves no membership behind.
//!
//! A team of few members is deleted with them in one transaction, on the condition that nobody joined since they were read. A larger one is
//! marked first: from then on it is nobody's, and nobody can join or select it. Then its members go, in transactions of as many as one
//! takes, several at a time, and the team itself goes last. Whatever interrupts that leaves the mark and a note for the worker that ends
//! it ([`crate::deletions`]); sending the request again goes on where it stopped too. The members that are left are the list of what is to do.

use std::time::Duration;

use futures_util::future::try_join_all;
use jiff::Timestamp;
use model::team::Team;
use tokio::time::Instant;
use wire::id::{ProjectId, TeamId, UserId};

use crate::client::{MAX_WRITES, Store};
use crate::deletions::{Ended, Ending};
use crate::error::Error;
use crate::item::{Item, entity, integer};
use crate::profile_image;
use crate::team::membership::{MOST_REMOVE_WRITES, MemberRow, remove};
use crate::team::{TeamRow, team_key};
use crate::write::Write;

/// How many members are deleted by one transaction, beside the team and its picture.
const AT_ONCE: usize = (MAX_WRITES - 2) / MOST_REMOVE_WRITES;
/// How many transactions run at a time.
const SIDE_BY_SIDE: usize = 8;
/// How long a request deletes members; a Lambda has ten seconds.
const BUDGET: Duration = Duration::from_secs(6);

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    Done,
    /// There is no such team.
    Missing,
    /// The team is gone, and has members that are not yet: to be called again.
    Unfinished,
}

/// A team with its first members, read for its deletion: the team before the members.
#[derive(Debug)]
pub struct Doomed {
    team: Option<Item>,
    members: Vec<MemberRow>,
}

impl Store {
    /// Reads what a deletion begins with.
    pub async fn doomed(&self, project: &ProjectId, id: TeamId) -> Result<Doomed, Error> {
        let (team, members) = self.team_with_members(project, id, AT_ONCE * SIDE_BY_SIDE).await?;
        Ok(Doomed { team, members })
    }

    /// Deletes a team. `last` is the member who may call again, and so goes last.
    pub async fn delete_team(
        &self,
        project: &ProjectId,
        id: TeamId,
        last: Option<UserId>,
        first: Doomed,
        now: Timestamp,
    ) -> Result<Deletion, Error> {
        let (end, mut doomed) = (Instant::now() + BUDGET, first);
        while Instant::now() < end {
            let Doomed { team: Some(item), members } = doomed else { return Ok(Deletion::Missing) };
            let is_large = members.len() > AT_ONCE;
            let step = match TeamRow::of(item.clone())? {
                Some(row) if is_large => self.mark_deleting(project, &row, now).await,
                None if is_large => self.purge(project, &members, last).await,
                row => {
                    let team = entity(item)?;
                    self.transact(whole(project, &team, row.map(|row| row.joins), &members)).await
                }
            };
            match step {
                Ok(()) if !is_large => return Ok(Deletion::Done),
                // Something changed under it: looked at again.
                Ok(()) | Err(Error::Conflict(_)) => doomed = self.doomed(project, id).await?,
                Err(error) => return Err(error),
            }
        }
        Ok(Deletion::Unfinished)
    }

    async fn mark_deleting(&self, project: &ProjectId, row: &TeamRow, now: Timestamp) -> Result<(), Error> {
        let mark = Write::update(team_key(project, row.team.id), "SET deleting = :version REMOVE gsi1pk, gsi1sk");
        let mark = mark.on("attribute_exists(pk)").value(":version", integer(row.version));
        let ending = Ending { project: project.clone(), what: Ended::Team { id: row.team.id }, begun_at: now };
        self.transact([mark, ending.note()?]).await
    }

    async fn purge(&self, project: &ProjectId, members: &[MemberRow], last: Option<UserId>) -> Result<(), Error> {
        let members: Vec<&MemberRow> = members.iter().filter(|row| Some(row.user_id) != last).collect();
        let chunks =
            members.chunks(AT_ONCE).map(|chunk| self.transact(chunk.iter().flat_map(|row| remove(project, row)).collect::<Vec<_>>()));
        try_join_all(chunks).await.map(drop)
    }
}

/// Deletes a team with all its members: those who were read, if so many had joined.
fn whole(project: &ProjectId, team: &Team, joins: Option<u64>, members: &[MemberRow]) -> Vec<Write> {
    let delete = Write::delete(team_key(project, team.id));
    let delete = match joins {
        Some(joins) => delete.on("joins = :joins").value(":joins", integer(joins)),
        // Nobody joins any more.
        None => delete.on("attribute_exists(deleting)"),
    };
    let image = team.uploaded_image.as_ref().map(|image| profile_image::delete(project, team.id, image));
    [delete].into_iter().chain(image).chain(members.iter().flat_map(|row| remove(project, row))).collect()
}
