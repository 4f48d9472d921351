//! `GET /api/v1/team-invitations`: lists the open invitations to a team, or those to a user's
//! verified email addresses. For a team, a client needs `$read_members` and `$invite_members`;
//! otherwise it can list only the invitations for its own user.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::input::Ignored;
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use flows::teams::{enter, limited_to};
use model::email::Email;
use model::permission::System;
use model::team::Team;
use model::team::invitation::Invitation;
use model::user::reference::UserRef;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{InvitationId, TeamId, UserId};

use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-invitation-list", "/api/v1/team-invitations")
    .summary("Lists the invitations to a team or for a user")
    .table(&[BatchGetItem, GetItem, Query])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::UserNotFound, ErrorCode::TeamNotFound, ErrorCode::TeamPermissionRequired]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationsQuery {
    /// Either this or `user_id` is required.
    #[deserr(default)]
    team_id: Option<TeamId>,
    /// A user's id, or `me`. Either this or `team_id` is required.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
}

#[derive(Serialize, ToSchema)]
pub struct TeamInvitation {
    id: InvitationId,
    team_id: TeamId,
    team_display_name: String,
    recipient_email: Email,
    /// Milliseconds since the epoch.
    expires_at_millis: i64,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, InvitationsQuery>,
) -> Result<Json<List<TeamInvitation>>, Error> {
    let (now, own) = (access.app.clock.now(), limited_to(&access)?);
    let found = match (query.team_id, query.user_id) {
        (Some(team), None) => to_team(&access, team).await?,
        (None, Some(user)) => for_user(&access, access.user_id(user)?).await?,
        (None, None) if own.is_some() => return Err(KnownError::Forbidden.into()),
        _ => return Err(user_problem("query.team_id", "or user_id is required, but not both", ROUTE).into()),
    };
    let open = found.into_iter().filter(|(invitation, _)| invitation.is_open(now));
    let items = open.map(|(invitation, team)| TeamInvitation {
        id: invitation.id,
        team_id: team.id,
        team_display_name: team.display_name,
        recipient_email: invitation.email,
        expires_at_millis: invitation.expires_at.as_millisecond(),
    });
    Ok(Json(List::whole(items.collect())))
}

async fn to_team(access: &Access<Client>, team: TeamId) -> Result<Vec<(Invitation, Team)>, Error> {
    let needed = [System::ReadMembers, System::InviteMembers];
    // The invitations are read in parallel with the permission check, whose result is evaluated
    // first.
    let entering = enter(&access.prefetched, access, team, &[], &needed);
    let (entered, invitations) = tokio::join!(entering, access.app.store.invitations_to(&access.project.id, team));
    let team = entered?.row.team;
    Ok(invitations?.into_iter().map(|invitation| (invitation, team.clone())).collect())
}

async fn for_user(access: &Access<Client>, user: UserId) -> Result<Vec<(Invitation, Team)>, Error> {
    let user = read(access, user).await?.ok_or(KnownError::UserNotFound)?.user;
    let emails: Vec<Email> = user.channels.into_iter().filter(|channel| channel.is_verified).map(|channel| channel.value).collect();
    Ok(access.app.store.invitations_for(&access.project.id, &emails).await?)
}
