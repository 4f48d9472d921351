//! The teams of a user whose members need a second factor. Memberships are in items of their own,
//! which the authentication of a request does not read. So the teams are noted in the user's item:
//! when the user joins one, and here, whenever the user gets a new access token. Only users without
//! a second factor in projects with such teams cost a read, and a write if something changed.

use std::collections::BTreeSet;

use flows::App;
use model::project::Project;
use model::user::User;
use store::user;
use wire::id::{TeamId, UserId};

/// The teams of the user whose members need a second factor; `None` if the project has no such
/// teams.
pub(crate) async fn read(app: &App, project: &Project, user: UserId) -> Result<Option<BTreeSet<TeamId>>, store::Error> {
    let teams = &project.config.second_factor.required_of_teams;
    if teams.is_empty() {
        return Ok(None);
    }
    app.store.memberships_among(&project.id, user, teams).await.map(Some)
}

/// Notes the teams in the user's item, if they have changed and matter.
pub(crate) async fn note(app: &App, project: &Project, user: &mut User, teams: Option<BTreeSet<TeamId>>) -> Result<(), store::Error> {
    let Some(teams) = teams.filter(|teams| !user.has_second_factor() && user.second_factor_teams != *teams) else { return Ok(()) };
    app.store.write_unrecorded(user::note_second_factor_teams(&project.id, user.id, &teams)?).await?;
    user.second_factor_teams = teams;
    Ok(())
}

/// Reads and notes the teams of a user who signs in. Called after the session was written, and
/// before its first access token is made.
pub(crate) async fn renew(app: &App, project: &Project, user: &mut User) -> Result<(), store::Error> {
    if user.has_second_factor() {
        return Ok(());
    }
    let teams = read(app, project, user.id).await?;
    note(app, project, user, teams).await
}
