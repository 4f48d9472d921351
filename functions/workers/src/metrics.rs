//! The figures about projects, as far as the worker of the audit trail keeps them.
//!
//! An entry is counted in the transaction of the link that covers it ([`crate::trail`]). Users who
//! were active are counted before: that is done once a day for each user, so it can be repeated.

use std::collections::{BTreeMap, BTreeSet};

use flows::App;
use jiff::{SignedDuration, Timestamp};
use model::metrics::activity::{Day, day};
use model::metrics::tally::Tally;
use model::trail::{Actor, Entry};
use store::metrics::counters::Counters;
use store::optimistic;
use store::trail::list::TrailListing;
use wire::clock::after;
use wire::id::{ProjectId, UserId};

use crate::fail_point::reached;
use crate::trail;

/// The maximum number of users of a project that the worker counts by itself, when it finds that
/// nobody has counted them.
pub const MOST_USERS: usize = 2000;
/// How often changed accounts are read again before a recount gives up.
const ROUNDS: u32 = 10;
/// How many entries of the trail are read at once.
const READ: usize = 500;
/// More than the longest request takes, plus the difference between the clocks of two instances.
const BEFORE: SignedDuration = SignedDuration::from_mins(2);

/// An entry that a link is about to cover.
pub(crate) struct Fresh {
    pub(crate) covered: model::trail::chain::Covered,
    pub(crate) entry: Option<Entry>,
    /// How often its event happened since a link last covered it.
    pub(crate) times: u64,
}

/// The maximum number of items that the counters of a link may take: a transaction has at most 100
/// items, and a single entry takes at most about 60.
const MOST_COUNTERS: usize = 90;

/// The first entries that fit into one link, with what they count.
pub(crate) fn first_link(entries: &[Fresh], most: usize) -> (usize, Counters) {
    let mut counters = Counters::default();
    for (number, fresh) in entries.iter().enumerate().take(most) {
        let mut with = counters.clone();
        if let Some(entry) = &fresh.entry {
            with.add(entry, fresh.times);
        }
        if number > 0 && with.len() > MOST_COUNTERS {
            return (number, counters);
        }
        counters = with;
    }
    (entries.len().min(most), counters)
}

/// Counts the users who caused these entries, each once a day.
pub(crate) async fn count_active(app: &App, project: &ProjectId, entries: &[Fresh]) -> Result<(), store::Error> {
    let mut by_day: BTreeMap<Day, (Timestamp, BTreeSet<UserId>)> = BTreeMap::new();
    for entry in entries.iter().filter_map(|fresh| fresh.entry.as_ref()) {
        if let Actor::User { user_id, .. } = entry.actor {
            by_day.entry(day(entry.at)).or_insert_with(|| (entry.at, BTreeSet::new())).1.insert(user_id);
        }
    }
    for (at, users) in by_day.into_values() {
        let users: Vec<UserId> = users.into_iter().collect();
        let left = app.store.not_yet_active(project, &users, at).await?;
        let users = app.store.users_by_id(project, &left).await?;
        let users: Vec<_> = users.into_values().map(|row| row.user).collect();
        app.store.count_active(project, &users, at).await?;
        reached("counted", users.len());
    }
    Ok(())
}

/// Counts the users and teams of a project anew, at most `most` users; `None` if there are more.
/// Exact although requests may change accounts meanwhile; [`store::Error::Contended`] if they
/// change faster than accounts can be read.
pub async fn recount(app: &App, project: &ProjectId, most: usize) -> Result<Option<Tally>, store::Error> {
    let since = after(app.clock.now(), -BEFORE);
    let Some(mut users) = app.store.tallies_of_users(project, most).await? else { return Ok(None) };
    // Only accounts that changed since the list was read are read again, so each round is short.
    let tally = optimistic!(ROUNDS, |_| {
        trail::link_entries(app, project).await?;
        let before = app.store.totals(project).await?;
        let changed = changed_since(app, project, since).await?;
        app.store.tally_again(project, &mut users, &changed).await?;
        let teams = app.store.count_teams(project).await?;
        trail::link_entries(app, project).await?;
        app.store.set_totals(project, &before, &users, teams, app.clock.now()).await
    })?;
    Ok(Some(tally))
}

/// The users whom entries since a time are about.
async fn changed_since(app: &App, project: &ProjectId, since: Timestamp) -> Result<Vec<UserId>, store::Error> {
    let (mut users, mut after) = (BTreeSet::new(), None::<String>);
    loop {
        let now = app.clock.now();
        let listing = TrailListing { user: None, from: since, until: None, after: after.as_deref(), limit: READ, read: READ, now };
        let page = app.store.trail(project, listing, |entry| !entry.tally.is_empty()).await?;
        users.extend(page.rows.iter().filter_map(|entry| entry.user_id));
        after = page.next;
        if after.is_none() {
            return Ok(users.into_iter().collect());
        }
    }
}
