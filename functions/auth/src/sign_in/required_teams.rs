//! Finds out which of a user's teams require a second factor. Memberships are in items of their
//! own, which the authentication of a request does not read. So these teams are noted in the user's
//! item: when the user joins one, and here, when the user signs in or refreshes a token. This costs
//! a read only in projects with such teams, and a write only if the teams of a user without a
//! second factor have changed.

use std::collections::BTreeSet;

use flows::App;
use model::project::Project;
use model::user::User;
use store::user;
use wire::id::{TeamId, UserId};

/// The user's teams that require a second factor; `None` if no team of the project does.
pub(crate) async fn read(app: &App, project: &Project, user: UserId) -> Result<Option<BTreeSet<TeamId>>, store::Error> {
    let teams = &project.config.second_factor.required_of_teams;
    if teams.is_empty() {
        return Ok(None);
    }
    app.store.memberships_among(&project.id, user, teams).await.map(Some)
}

/// Notes the teams in the user's item, if they have changed and the user has no second factor.
/// Without `teams`, changes nothing.
pub(crate) async fn note(app: &App, project: &Project, user: &mut User, teams: Option<BTreeSet<TeamId>>) -> Result<(), store::Error> {
    let Some(teams) = teams.filter(|teams| !user.has_second_factor() && user.second_factor_teams != *teams) else { return Ok(()) };
    app.store.write_unrecorded(user::note_second_factor_teams(&project.id, user.id, &teams)?).await?;
    user.second_factor_teams = teams;
    Ok(())
}

/// Reads and notes the teams of a user who signs in. Called after the sign-in was written, and
/// before its access token is made.
pub(crate) async fn renew(app: &App, project: &Project, user: &mut User) -> Result<(), store::Error> {
    if user.has_second_factor() {
        return Ok(());
    }
    let teams = read(app, project, user.id).await?;
    note(app, project, user, teams).await
}
