//! Hands over an account when someone other than its creator first proves its address
//! ([`ownership`](model::user::ownership)).

use errors::Error;
use model::project::Project;
use model::user::User;
use store::team::leaving::MAX_LEAVE_WRITES;
use store::team::membership;
use store::user::UserRow;
use store::{Write, profile_image};

use crate::app::App;
use crate::email::code::account_claimed;
use crate::teams::personal;

/// The maximum number of writes that release the claims of an account's previous owner and delete
/// memberships; memberships beyond this number are deleted beforehand. If the claims alone take
/// more writes, the new owner does not get a personal team. All of these writes are in one
/// transaction. If the transaction were too large, nobody could prove the address of an account
/// that was filled up on purpose.
const MAX_RELEASED: usize = 80;

/// Hands the account of `before` over to its new owner, `user`, who has only the proved address and
/// the credential that proved it. Returns the change's additional writes, including an email to the
/// address.
///
/// The user leaves all teams, because the previous owner may have let other people in, as members
/// or with API keys and invitations. Fields about the person that a client can write are cleared.
/// If the project's settings provide a personal team, the user gets a new one, which becomes the
/// selected team. An account that was created by a server and never used keeps its teams and the
/// server's data.
pub async fn hand_over(app: &App, project: &Project, before: &UserRow, user: &mut User) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    if was_used(app, project, before).await? {
        writes = start_anew(app, project, &before.user, user).await?;
    }
    writes.extend(account_claimed(app, &project.id, user)?);
    Ok(writes)
}

/// Whether anyone may have used the account.
async fn was_used(app: &App, project: &Project, row: &UserRow) -> Result<bool, Error> {
    if row.user.may_have_been_used() || row.last_active_at > row.user.signed_up_at {
        return Ok(true);
    }
    // A server may have started a session for the user.
    let sessions = app.store.sessions(&project.id, row.user.id, None, 1, |_| true).await?;
    Ok(!sessions.sessions.is_empty())
}

async fn start_anew(app: &App, project: &Project, before: &User, user: &mut User) -> Result<Vec<Write>, Error> {
    // A provider account takes two writes: its claim and its tokens are deleted.
    let released = before.channels.len() + 2 * before.provider_accounts.len();
    let room = MAX_RELEASED.saturating_sub(released) / MAX_LEAVE_WRITES;
    let leaving = app.store.leave_teams(&project.id, user.id, room).await?;
    user.forget_person();
    let picture = before.uploaded_image.as_ref().map(|picture| profile_image::delete(&project.id, user.id, picture));
    let selected = user.selected_team_id.take().filter(|team| !leaving.teams.contains(team));
    let deselected = selected.map(|team| membership::deselect(&project.id, team, user.id));
    let team = if released > MAX_RELEASED { Vec::new() } else { personal(app, project, user)? };
    Ok(leaving.writes.into_iter().chain(picture).chain(deselected).chain(team).collect())
}
