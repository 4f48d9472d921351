//! Finds out which of a user's teams require a second factor. Memberships are separate items that
//! are not read when a request is authenticated. The teams that require a second factor are
//! therefore recorded in the user's item when the user joins such a team. This module also records
//! them when the user signs in or refreshes a token. Users with an authenticator app are included,
//! because the app may be removed. Recording the teams costs a read only in projects with such
//! teams, and a write only if the user's teams have changed.

use std::collections::BTreeSet;

use flows::App;
use model::project::Project;
use model::user::User;
use store::Error;
use store::user::{self, UserRow};
use wire::id::{TeamId, UserId};

/// The user's teams that require a second factor. `None` if no team of the project requires a
/// second factor.
async fn read(app: &App, project: &Project, user: UserId) -> Result<Option<BTreeSet<TeamId>>, Error> {
    let teams = &project.config.second_factor.required_of_teams;
    if teams.is_empty() {
        return Ok(None);
    }
    app.store.memberships_among(&project.id, user, teams).await.map(Some)
}

/// Reads which of a user's teams require a second factor, and records them in the user's item if
/// they have changed since `row` was read.
///
/// A team that the user joins in the meantime has already been recorded. The user's item is
/// therefore read before the memberships, and teams are removed from the item only if the item has
/// not changed since then. If the item has changed, the next refresh removes the teams. Missing
/// teams are always added, even if the user changes concurrently.
pub(crate) async fn note(app: &App, project: &Project, row: &mut UserRow) -> Result<(), Error> {
    let (id, user) = (&project.id, &mut row.user);
    let Some(teams) = read(app, project, user.id).await?.filter(|teams| *teams != user.second_factor_teams) else { return Ok(()) };
    let missing: Vec<&TeamId> = teams.difference(&user.second_factor_teams).collect();
    let write = if missing.is_empty() {
        user::note_second_factor_teams(id, user.id, row.version, &teams)?
    } else {
        user::add_second_factor_teams(id, user.id, missing)
    };
    match app.store.write_unrecorded(write).await {
        Ok(()) => user.second_factor_teams = teams,
        Err(Error::Conflict(_)) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Reads and records the teams of a user who is signing in. This function is called after the
/// sign-in is written and before the access token is created.
pub(crate) async fn renew(app: &App, project: &Project, user: &mut User) -> Result<(), Error> {
    let teams = read(app, project, user.id).await?;
    if teams.is_none_or(|teams| teams == user.second_factor_teams) {
        return Ok(());
    }
    // The sign-in has changed the user since the user was read.
    if let Some(mut row) = app.store.user(&project.id, user.id).await? {
        note(app, project, &mut row).await?;
        user.second_factor_teams = row.user.second_factor_teams;
    }
    Ok(())
}
