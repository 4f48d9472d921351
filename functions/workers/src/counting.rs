//! Counts users, teams and matches of sign-up rules from the entries of an audit trail.
//!
//! An entry is counted in the transaction of its link. Two steps run before the transaction,
//! because they can be repeated safely: counting active users once a day, and recording sign-ins in
//! the users' items once an hour.

use std::collections::{BTreeMap, BTreeSet};

use flows::App;
use jiff::Timestamp;
use model::metrics::activity::{Day, day};
use model::trail::chain::CoveredEntry;
use model::trail::{Actor, Entry, Event};
use store::metrics::counters::Counters;
use wire::id::{ProjectId, UserId};

use crate::fail_point::reached;

/// An entry to be linked.
pub(crate) struct FreshEntry {
    pub(crate) covered: CoveredEntry,
    pub(crate) entry: Option<Entry>,
    /// The number of times that the entry's event has happened since the entry was last linked.
    pub(crate) times: u64,
}

/// The maximum number of items for the counters of a link. A transaction contains at most 100
/// items, and a single entry needs at most about 60 items.
const MAX_COUNTERS: usize = 90;

/// The number of entries that fit into one link, and their counters.
pub(crate) fn first_link(entries: &[FreshEntry], max: usize) -> (usize, Counters) {
    let mut counters = Counters::default();
    for (number, fresh) in entries.iter().enumerate().take(max) {
        let mut with = counters.clone();
        if let Some(entry) = &fresh.entry {
            with.add(entry, fresh.times);
        }
        if number > 0 && with.len() > MAX_COUNTERS {
            return (number, counters);
        }
        counters = with;
    }
    (entries.len().min(max), counters)
}

/// Counts each user in the entries once a day.
pub(crate) async fn count_active(app: &App, project: &ProjectId, entries: &[FreshEntry]) -> Result<(), store::Error> {
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

/// Records the last sign-in of each user as activity. Token refreshes record activity themselves.
/// Sign-ins leave this to the worker, because most sign-ins do not write the user's item.
pub(crate) async fn note_sign_ins(app: &App, project: &ProjectId, entries: &[FreshEntry]) -> Result<(), store::Error> {
    let mut last: BTreeMap<UserId, Timestamp> = BTreeMap::new();
    for entry in entries.iter().filter_map(|fresh| fresh.entry.as_ref()).filter(|entry| entry.events.contains(&Event::SignIn)) {
        if let Some(user) = entry.user_id {
            let at = last.entry(user).or_insert(entry.at);
            *at = entry.at.max(*at);
        }
    }
    for (user, at) in last {
        app.store.note_activity(project, user, at).await?;
    }
    Ok(())
}
