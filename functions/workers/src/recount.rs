//! Counts the users and teams of a project one by one. The worker recounts a project that is older
//! than its counters, or whose totals are wrong or lists of users incomplete. A recount also adds
//! missing users to the list by last activity, and the words of each user to the index of the
//! beginnings of words.

use std::collections::BTreeSet;

use flows::App;
use jiff::{SignedDuration, Timestamp};
use model::metrics::tally::Tally;
use store::optimistic;
use store::trail::list::TrailListing;
use wire::clock::after;
use wire::id::{ProjectId, UserId};

use crate::chain;

/// The maximum number of users that the worker counts on its own initiative, in a project whose
/// users were never counted or whose lists are incomplete.
pub const MAX_USERS: usize = 2000;
/// The number of times that changed accounts are read again before a recount gives up.
const MAX_ATTEMPTS: u32 = 10;
/// The number of audit trail entries that are read at once.
const READ: usize = 500;
/// Changes that began within this time before the list of users was read may be missing from the
/// list. The time is longer than the longest request plus the clock skew between two instances.
const BEFORE: SignedDuration = SignedDuration::from_mins(2);

/// Recounts the users and teams of a project with at most `max` users. `None` if there are more
/// users. The result is exact even if requests change accounts in the meantime. Fails with
/// [`store::Error::Contended`] if accounts change faster than they can be read.
pub async fn totals(app: &App, project: &ProjectId, max: usize) -> Result<Option<Tally>, store::Error> {
    let since = after(app.clock.now(), -BEFORE);
    let Some(mut users) = app.store.tallies_of_users(project, max).await? else { return Ok(None) };
    app.store.list_older_users(project).await?;
    // Only accounts that changed after the list was read are read again, so each attempt is short.
    let tally = optimistic!(MAX_ATTEMPTS, |_| {
        chain::link(app, project, None).await?;
        let before = app.store.totals(project).await?;
        let changed = changed_since(app, project, since).await?;
        app.store.tally_again(project, &mut users, &changed).await?;
        let teams = app.store.count_teams(project).await?;
        chain::link(app, project, None).await?;
        app.store.set_totals(project, &before, &users, teams, app.clock.now()).await
    })?;
    Ok(Some(tally))
}

/// The users in all entries since `since` that change a total.
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
