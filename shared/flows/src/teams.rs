//! What a request may do with a team: a server everything, a client what its user's permissions there allow.
//!
//! A client learns nothing of a team that its user is not in, not even whether there is one.

use std::collections::BTreeSet;

use errors::{Error, KnownError};
use model::permission::{Grant, Occasion, System};
use model::project::Project;
use model::team::{Member, Team, may};
use model::user::User;
use store::team::membership::{self, MemberRow};
use store::team::{self, TeamRow};
use store::{Conflict, Label, Store, Write};
use wire::id::{TeamId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;

/// A team that the caller may see, with those of its members who were asked for.
#[derive(Debug)]
pub struct Entered {
    pub row: TeamRow,
    members: Vec<MemberRow>,
}

impl Entered {
    /// A member of the team, or the error of one who is not.
    pub fn member(&self, user: UserId) -> Result<&MemberRow, KnownError> {
        self.members.iter().find(|row| row.user_id == user).ok_or_else(|| no_member(self.row.team.id, user))
    }
}

pub fn no_team(team: TeamId) -> KnownError {
    KnownError::TeamNotFound { team_id: team.to_string() }
}

pub fn no_member(team: TeamId, user: UserId) -> KnownError {
    KnownError::TeamMembershipNotFound { team_id: team.to_string(), user_id: user.to_string() }
}

/// Whom a client is limited to; nobody for a server.
pub fn limited_to(context: &Context) -> Result<Option<UserId>, KnownError> {
    match (context.level, &context.user) {
        (Level::Client, Some(user)) => Ok(Some(user.row.user.id)),
        (Level::Client, None) => Err(KnownError::UserAuthenticationRequired),
        (Level::Server | Level::Admin, _) => Ok(None),
    }
}

/// Refuses a client whose user does not have a permission in a team.
pub fn require(project: &Project, team: TeamId, user: UserId, grants: Option<&BTreeSet<Grant>>, needed: System) -> Result<(), KnownError> {
    if may(&project.config.rbac, grants, needed) {
        return Ok(());
    }
    Err(KnownError::TeamPermissionRequired { team_id: team.to_string(), user_id: user.to_string(), permission_id: needed.id().to_owned() })
}

/// Reads a team, with `others` of its members. A client needs to be a member, with the permissions `needed`.
pub async fn enter(table: &Store, context: &Context, team: TeamId, others: &[UserId], needed: &[System]) -> Result<Entered, Error> {
    let own = limited_to(context)?;
    let users: Vec<UserId> = others.iter().copied().chain(own).collect();
    let (row, members) = table.team_and_members(&context.project.id, team, &users).await?;
    if let Some(own) = own {
        let grants = members.iter().find(|member| member.user_id == own && row.is_some()).map(|member| &member.grants);
        for needed in needed {
            require(&context.project, team, own, grants, *needed)?;
        }
        grants.ok_or_else(|| no_member(team, own))?;
    }
    Ok(Entered { row: row.ok_or_else(|| no_team(team))?, members })
}

/// Writes a team with the user who creates it; the user's own write is for the caller.
pub fn founding(app: &App, project: &Project, team: &Team, creator: &User, is_selected: bool) -> Result<Vec<Write>, store::Error> {
    let grants = project.config.rbac.default_grants(Occasion::TeamCreator);
    let member = Member::new(app.clock.now());
    let member = membership::create(&project.id, team.id, creator, &member, grants, is_selected)?;
    Ok([team::create(&project.id, team)?].into_iter().chain(member).collect())
}

/// Writes a user who joins a team, with the permissions of a member.
pub fn joining(app: &App, project: &Project, team: TeamId, user: &User) -> Result<Vec<Write>, store::Error> {
    let grants = project.config.rbac.default_grants(Occasion::TeamMember);
    let user_write = membership::joins(&project.id, user.id);
    membership::joining(&project.id, team, user, user_write, &Member::new(app.clock.now()), grants)
}

/// What it means that the writes of [`joining`] failed.
pub fn join_refused(conflict: &Conflict, team: TeamId) -> KnownError {
    if conflict.is_of(Label::Team) {
        no_team(team)
    } else if conflict.is_of(Label::User) {
        KnownError::UserNotFound
    } else {
        KnownError::TeamMembershipAlreadyExists
    }
}

/// What a new user gets by the settings of its project: permissions, and a team of its own, which it has selected.
pub fn welcome(app: &App, project: &Project, user: &mut User) -> Result<Vec<Write>, store::Error> {
    user.permissions = project.config.rbac.default_grants(Occasion::SignUp);
    if !project.config.create_team_on_sign_up {
        return Ok(Vec::new());
    }
    let team = Team::personal(TeamId::from(app.entropy.uuid()), user, app.clock.now());
    user.selected_team_id = Some(team.id);
    founding(app, project, &team, user, true)
}
