//! The users that are shown with the figures, which are the newest and the most recently active
//! users.

use std::collections::{BTreeSet, HashMap};

use flows::App;
use jiff::{SignedDuration, Timestamp};
use model::project::Project;
use model::trail::Actor;
use model::user::filter::UserFilter;
use model::view::user::ServerUser;
use store::Listing;
use store::trail::list::TrailListing;
use store::user::UserRow;
use wire::clock::after;
use wire::id::{TeamId, UserId};

/// The number of users to show.
const SHOWN: usize = 5;
/// The number of users to read from the newest audit log entries. The number is greater than the
/// number of users shown, because anonymous users may be left out.
const READ: usize = 25;
/// The maximum number of audit log entries that are read to find users.
const ENTRIES: usize = 100;
/// How far to look back for active users.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The newest users, starting with the newest.
pub(crate) async fn newest(app: &App, project: &Project, filter: &UserFilter) -> Result<Vec<UserRow>, store::Error> {
    let listing = Listing { after: None, descending: true, limit: SHOWN, read: SHOWN + 1 };
    Ok(app.store.users(&project.id, listing, |user| filter.shows(user, &project.config)).await?.rows)
}

/// The users who last signed in or changed something according to the newest audit log entries,
/// starting with the most recently active.
pub(crate) async fn last_active(app: &App, project: &Project, filter: &UserFilter) -> Result<Vec<UserRow>, store::Error> {
    let now = app.clock.now();
    let from = project.created_at.max(after(now, -RECENT));
    let listing = TrailListing { user: None, from, until: None, after: None, limit: ENTRIES, read: ENTRIES, now };
    let is_by_user = |actor: Actor| matches!(actor, Actor::User { .. });
    let page = app.store.trail(&project.id, listing, |entry| is_by_user(entry.actor)).await?;
    let mut seen: HashMap<UserId, Timestamp> = HashMap::new();
    for entry in page.rows {
        if let Actor::User { user_id, .. } = entry.actor
            && (seen.len() < READ || seen.contains_key(&user_id))
        {
            // The newest entries come first.
            seen.entry(user_id).or_insert(entry.at);
        }
    }
    let ids: Vec<UserId> = seen.keys().copied().collect();
    let rows = app.store.users_by_id(&project.id, &ids).await?.into_values();
    let with_time = |row: UserRow| {
        let at = seen.get(&row.user.id).copied().unwrap_or(row.last_active_at);
        UserRow { last_active_at: at.max(row.last_active_at), ..row }
    };
    let mut rows: Vec<UserRow> = rows.filter(|row| filter.shows(&row.user, &project.config)).map(with_time).collect();
    rows.sort_by(|a, b| b.last_active_at.cmp(&a.last_active_at).then_with(|| a.user.id.cmp(&b.user.id)));
    rows.truncate(SHOWN);
    Ok(rows)
}

/// The users of two lists, as servers see them.
pub(crate) async fn views(app: &App, project: &Project, lists: [Vec<UserRow>; 2]) -> Result<[Vec<ServerUser>; 2], store::Error> {
    let selected: BTreeSet<TeamId> = lists.iter().flatten().filter_map(|row| row.user.selected_team_id).collect();
    let teams = app.store.teams(&project.id, &selected.into_iter().collect::<Vec<_>>()).await?;
    let view = |row: &UserRow| {
        let team = row.user.selected_team_id.and_then(|id| teams.get(&id));
        ServerUser::of(&row.user, row.last_active_at, &project.config, team)
    };
    Ok(lists.map(|rows| rows.iter().map(view).collect()))
}
