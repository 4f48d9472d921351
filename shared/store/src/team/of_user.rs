//! Pages of a user's teams.
//!
//! All memberships of a user are read, at one unit for about 15 memberships. A page then reads
//! teams, which take up to 100 KB each: first a few, and then as many at a time as should fit into
//! a page, judging by the size of the previous ones. At most about 2 MB are read for a page, no
//! matter how little of that is shown, so that clients cannot make a short response cost more than
//! a long one.

use jiff::Timestamp;
use model::team::Team;
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::{team_key, user_key};
use crate::table::sharded::{MAX_PAGE_BYTES, MAX_READ_BYTES, is_over, size};
use crate::table::{BATCH, Error, Store, entity};
use crate::team::TeamRow;
use crate::team::membership::{MemberRow, Membership, member_key};

/// The number of teams read before their size is known.
const FIRST: usize = 10;
/// The maximum number of teams that a search examines for one page.
const EXAMINED: usize = 1000;

/// A place in the list of a user's teams: a time in milliseconds, and the team.
pub type Place = (i64, TeamId);

/// Specifies the part of a user's teams to read.
#[derive(Debug, Clone, Copy)]
pub struct PartOfTeams {
    /// The place after which the page begins; `None` for the first page.
    pub after: Option<Place>,
    /// Whether the order is descending.
    pub descending: bool,
    /// Whether to sort the teams by the time when they were created, instead of the time when the
    /// user joined them.
    pub by_creation: bool,
    /// The maximum number of teams in the page.
    pub limit: usize,
}

/// A page, with the place after which the next page begins, if there may be one.
#[derive(Debug)]
pub struct TeamsPage<T> {
    /// The values read about the teams, in order, with their places.
    pub rows: Vec<(Place, T)>,
    /// The place after which the next page begins.
    pub next: Option<Place>,
}

fn place(time: Timestamp, team: TeamId) -> Place {
    (time.as_millisecond(), team)
}

/// The number of teams to read next, after `count` teams of `bytes` bytes.
fn pace(bytes: usize, count: usize) -> usize {
    (MAX_PAGE_BYTES / bytes.div_ceil(count.max(1)).max(1)).clamp(1, BATCH)
}

impl Store {
    /// The teams of a user, in the order in which the user joined them.
    pub async fn memberships(&self, project: &ProjectId, user: UserId) -> Result<Vec<Membership>, Error> {
        let query = self.query_prefix(user_key(project, user).pk, "TEAM#");
        let mut memberships: Vec<Membership> = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        memberships.sort_by_key(|membership| (membership.joined_at, membership.team_id));
        Ok(memberships)
    }

    /// The places of the requested teams of a user, in order. Memberships written by servers or
    /// earlier versions do not contain the team's time of creation; to sort by creation, this
    /// method reads their teams.
    async fn places(&self, project: &ProjectId, user: UserId, part: &PartOfTeams) -> Result<Vec<Place>, Error> {
        let memberships = self.memberships(project, user).await?;
        let time = |membership: &Membership| if part.by_creation { membership.team_created_at } else { Some(membership.joined_at) };
        let (known, unknown): (Vec<_>, Vec<_>) = memberships.iter().map(|it| (it.team_id, time(it))).partition(|(_, time)| time.is_some());
        let mut places: Vec<Place> = known.into_iter().filter_map(|(team, time)| Some(place(time?, team))).collect();
        if !unknown.is_empty() {
            let ids: Vec<TeamId> = unknown.into_iter().map(|(team, _)| team).collect();
            for some in ids.chunks(FIRST) {
                places.extend(self.teams(project, some).await?.into_values().map(|team| place(team.created_at, team.id)));
            }
        }
        places.sort_unstable();
        if part.descending {
            places.reverse();
        }
        let is_after = |place: &Place| part.after.is_none_or(|after| if part.descending { *place < after } else { *place > after });
        places.retain(is_after);
        Ok(places)
    }

    /// The teams of a user that `keep` accepts.
    pub async fn teams_of(
        &self,
        project: &ProjectId,
        user: UserId,
        part: PartOfTeams,
        keep: impl Fn(&Team) -> bool,
    ) -> Result<TeamsPage<Team>, Error> {
        let places = self.places(project, user, &part).await?;
        let (mut rest, mut at_once, mut examined, mut read) = (places.as_slice(), FIRST.min(part.limit), 0, 0);
        let (mut rows, mut bytes, mut last) = (Vec::new(), 0, None);
        while !rest.is_empty() && examined < EXAMINED && read < MAX_READ_BYTES && rows.len() < part.limit {
            let (now, later) = rest.split_at(at_once.min(rest.len()));
            let ids: Vec<TeamId> = now.iter().map(|(_, id)| *id).collect();
            let mut teams = self.teams(project, &ids).await?;
            let sizes = teams.values().map(size).sum();
            at_once = pace(sizes, teams.len());
            read += sizes;
            for place in now {
                if let Some(team) = teams.remove(&place.1).filter(&keep) {
                    let size = size(&team);
                    if rows.len() == part.limit || is_over(bytes, size) {
                        return Ok(TeamsPage { rows, next: last });
                    }
                    bytes += size;
                    rows.push((*place, team));
                }
                last = Some(*place);
            }
            examined += now.len();
            rest = later;
        }
        Ok(TeamsPage { rows, next: last.filter(|_| !rest.is_empty()) })
    }

    /// Up to `limit` member items of a user, in the order in which the user joined the teams, after
    /// a place if set. Items in teams that are being deleted are left out.
    pub async fn members_of(
        &self,
        project: &ProjectId,
        user: UserId,
        after: Option<Place>,
        limit: usize,
    ) -> Result<TeamsPage<MemberRow>, Error> {
        let part = PartOfTeams { after, descending: false, by_creation: false, limit };
        let places = self.places(project, user, &part).await?;
        let (mut rest, mut at_once, mut rows, mut last, mut read) = (places.as_slice(), FIRST, Vec::new(), None, 0);
        while !rest.is_empty() && rows.len() < limit && read < MAX_READ_BYTES {
            let (now, later) = rest.split_at(at_once.min(limit - rows.len()).min(rest.len()));
            let keys = now.iter().flat_map(|(_, team)| [team_key(project, *team), member_key(project, *team, user)]);
            let mut items = self.get_many(keys).await?;
            let bytes = items.bytes();
            read += bytes;
            for place in now {
                let team = items.take(&team_key(project, place.1)).map_or(Ok(None), TeamRow::of)?;
                let member = items.take(&member_key(project, place.1, user)).map(MemberRow::of).transpose()?;
                rows.extend(member.filter(|_| team.is_some()).map(|member| (*place, member)));
                last = Some(*place);
            }
            at_once = pace(bytes, now.len()).min(BATCH / 2);
            rest = later;
        }
        Ok(TeamsPage { rows, next: last.filter(|_| !rest.is_empty()) })
    }
}
