//! `GET /api/v1/team-invitations`: lists the open invitations to a team, or to a user's verified
//! email addresses. For a team, a client needs `$read_members` and `$invite_members`. Without a
//! team, a client can list only the invitations of its user.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use flows::teams::{enter, limited_to};
use model::email::Email;
use model::permission::System;
use model::team::Team;
use model::team::invitation::Invitation;
use model::user::Channel;
use model::user::reference::UserRef;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{InvitationId, TeamId, UserId};

use crate::members::paths::user_problem;

pub const ROUTE: Route = Route::get("teams-invitation-list", "/api/v1/team-invitations")
    .summary("Lists the invitations to a team or for a user")
    .table(&[BatchGetItem, GetItem, Query])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::UserNotFound,
        ErrorCode::TeamNotFound,
        ErrorCode::TeamPermissionRequired,
        ErrorCode::InvalidCursor,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationsQuery {
    /// Either `team_id` or `user_id` is required.
    team_id: Option<TeamId>,
    /// A user's id, or `me`. Either `user_id` or `team_id` is required.
    user_id: Option<UserRef>,
    /// 1 to 500. Default: 500. A page may contain fewer than `limit` invitations, because
    /// invitations that are no longer valid are left out. A page also ends when the size of its
    /// teams and senders reaches 2 MB.
    limit: Option<Limit<500, 500>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
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

/// The invitations with their teams, and the last id before the next page.
type InvitationsPage = (Vec<(Invitation, Team)>, Option<InvitationId>);

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, InvitationsQuery>,
) -> Result<Json<Page<TeamInvitation>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (now, own, cursor) = (access.app.clock.now(), limited_to(&access)?, query.cursor.as_deref());
    let ((found, next), cursors) = match (query.team_id, query.user_id) {
        (Some(team), None) => {
            let cursors = Cursors::of(&access, format_args!("team-invitations/{team}"));
            (to_team(&access, team, cursors.position(cursor)?, limit).await?, cursors)
        }
        (None, Some(user)) => {
            let user = access.user_id(user)?;
            let cursors = Cursors::of(&access, format_args!("team-invitations/for/{user}"));
            (for_user(&access, user, cursors.position(cursor)?, limit).await?, cursors)
        }
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
    Ok(Json(Page::new(items.collect(), cursors.next(next.as_ref())?)))
}

async fn to_team(access: &Access<Client>, team: TeamId, after: Option<InvitationId>, limit: usize) -> Result<InvitationsPage, Error> {
    let needed = [System::ReadMembers, System::InviteMembers];
    // The invitations are read during the permission check, but only used if the check succeeds.
    let entering = enter(&access.prefetched, access, team, &[], &needed);
    let (entered, invitations) = tokio::join!(entering, access.app.store.invitations_to(&access.project.id, team, after, limit));
    let team = entered?.row.team;
    let (invitations, more) = invitations?;
    let next = invitations.last().map(|invitation| invitation.id).filter(|_| more);
    // If the team contained its metadata, each invitation on the page would repeat it.
    let named = Team::new(team.id, team.display_name, team.created_at);
    Ok((invitations.into_iter().map(|invitation| (invitation, named.clone())).collect(), next))
}

async fn for_user(access: &Access<Client>, user: UserId, after: Option<InvitationId>, limit: usize) -> Result<InvitationsPage, Error> {
    let user = read(access, user).await?.ok_or(KnownError::UserNotFound)?.user;
    let emails: Vec<Email> = user.channels.into_iter().filter(Channel::is_confirmed).map(|channel| channel.value).collect();
    Ok(access.app.store.invitations_for(&access.project.id, &emails, after, limit).await?)
}
