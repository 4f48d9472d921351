//! The access of callers to teams. A server may do everything; a client may do what the permissions
//! of its user in the team allow.
//!
//! A client whose user is not a member gets the same error as for a team that does not exist.

use std::collections::BTreeSet;

use errors::{Error, KnownError};
use jiff::Timestamp;
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

/// A team that the caller may access, with the requested members.
#[derive(Debug)]
pub struct TeamAccess {
    /// The team.
    pub row: TeamRow,
    members: Vec<MemberRow>,
}

impl TeamAccess {
    /// The member with this id; fails if the user is not a member of the team.
    pub fn member(&self, user: UserId) -> Result<&MemberRow, KnownError> {
        self.members.iter().find(|row| row.user_id == user).ok_or_else(|| no_member(self.row.team.id, user))
    }
}

/// The error for a team that does not exist.
pub fn no_team(team: TeamId) -> KnownError {
    KnownError::TeamNotFound { team_id: team.to_string() }
}

/// The error for a user who is not a member of the team.
pub fn no_member(team: TeamId, user: UserId) -> KnownError {
    KnownError::TeamMembershipNotFound { team_id: team.to_string(), user_id: user.to_string() }
}

/// The only user that a client may access; `None` for servers and administrators.
pub fn limited_to(context: &Context) -> Result<Option<UserId>, KnownError> {
    match (context.level, &context.user) {
        (Level::Client, Some(user)) => Ok(Some(user.row.user.id)),
        (Level::Client, None) => Err(KnownError::UserAuthenticationRequired),
        (Level::Server | Level::Admin, _) => Ok(None),
    }
}

/// Refuses a client whose user is anonymous. Someone who takes over the anonymous user of a tool
/// does not know who started the tool, and must not get a team with invitations and keys made by a
/// stranger.
pub fn refuse_anonymous(context: &Context) -> Result<(), KnownError> {
    match &context.user {
        Some(user) if context.level == Level::Client && user.row.user.is_anonymous => Err(KnownError::AnonymousAuthenticationNotAllowed),
        _ => Ok(()),
    }
}

/// Refuses a client whose user is restricted, for example because no address is verified: such a
/// user must not cause emails to other people.
pub fn refuse_restricted(context: &Context) -> Result<(), KnownError> {
    let user = context.user.as_ref().filter(|_| context.level == Level::Client);
    match user.and_then(|user| context.restricted_reason(&user.row.user)) {
        Some(restricted_reason) => Err(KnownError::RestrictedUserNotAllowed { restricted_reason }),
        None => Ok(()),
    }
}

/// Refuses a client whose user lacks a permission in a team.
pub fn require(project: &Project, team: TeamId, user: UserId, grants: Option<&BTreeSet<Grant>>, needed: System) -> Result<(), KnownError> {
    if may(&project.config.rbac, grants, needed) {
        return Ok(());
    }
    Err(KnownError::TeamPermissionRequired { team_id: team.to_string(), user_id: user.to_string(), permission_id: needed.id().to_owned() })
}

/// Reads a team and the memberships of `others` in it. The user of a client must be a member with
/// the permissions `needed`.
pub async fn enter(table: &Store, context: &Context, team: TeamId, others: &[UserId], needed: &[System]) -> Result<TeamAccess, Error> {
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
    Ok(TeamAccess { row: row.ok_or_else(|| no_team(team))?, members })
}

/// The writes that create a team with its creator as a member, except the write to the user.
pub fn founding(app: &App, project: &Project, team: &Team, creator: &User, is_selected: bool) -> Result<Vec<Write>, store::Error> {
    let grants = project.config.rbac.default_grants(Occasion::TeamCreator);
    let row = MemberRow::new(team.id, creator.id, Member::new(app.clock.now()), grants).selected(is_selected);
    let member = membership::create(&project.id, creator, &row.with_team_created_at(Some(team.created_at)))?;
    Ok([team::create(&project.id, team)?].into_iter().chain(member).collect())
}

/// A team for a user to join.
#[derive(Debug, Clone, Copy)]
pub struct TeamToJoin {
    /// The team.
    pub team: TeamId,
    /// When the team was created, if known.
    pub created_at: Option<Timestamp>,
    /// The version that the user's item must still have; `None` for any version.
    pub user_version: Option<u64>,
}

/// The writes that make a user a member of a team, with the default permissions of members.
pub fn joining(app: &App, project: &Project, joined: TeamToJoin, user: &User) -> Result<Vec<Write>, store::Error> {
    let TeamToJoin { team, created_at, user_version } = joined;
    let grants = project.config.rbac.default_grants(Occasion::TeamMember);
    let is_protected = project.config.second_factor.required_of_teams.contains(&team);
    let user_write =
        if is_protected { membership::joins_protected(&project.id, user.id, team) } else { membership::joins(&project.id, user.id) };
    let user_write = match user_version {
        Some(version) => membership::still(user_write, version),
        None => user_write,
    };
    let row = MemberRow::new(team, user.id, Member::new(app.clock.now()), grants);
    membership::joining(&project.id, user, user_write, &row.with_team_created_at(created_at))
}

/// The error for failed writes of [`joining`].
pub fn join_refused(conflict: &Conflict, team: TeamId) -> KnownError {
    if conflict.is_of(Label::Team) {
        no_team(team)
    } else if conflict.is_of(Label::User) {
        KnownError::UserNotFound
    } else {
        KnownError::TeamMembershipAlreadyExists
    }
}

/// Gives a new user what the project's settings provide: default permissions and, if enabled, a
/// personal team, which becomes the user's selected team. Returns the writes that create the team.
pub fn welcome(app: &App, project: &Project, user: &mut User) -> Result<Vec<Write>, store::Error> {
    user.permissions = project.config.rbac.default_grants(Occasion::SignUp);
    personal(app, project, user)
}

/// Creates and selects a personal team, if the project's settings provide one.
pub(crate) fn personal(app: &App, project: &Project, user: &mut User) -> Result<Vec<Write>, store::Error> {
    if !project.config.create_team_on_sign_up {
        return Ok(Vec::new());
    }
    let team = Team::personal(TeamId::from(app.entropy.uuid()), user, app.clock.now());
    user.selected_team_id = Some(team.id);
    founding(app, project, &team, user, true)
}
