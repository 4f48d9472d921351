//! `POST /api/v1/team-invitations/accept`: adds the signed-in user to a team by an invitation's
//! code. The invitation must be to one of the user's verified email addresses. Only one of several
//! concurrent requests succeeds.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, CodeBody, InvitationCode};
use axum::extract::State;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use model::limit::{Limit, Subject};
use model::team::invitation::By;

use crate::invitations::accepting::accept;
use crate::invitations::input::Accepted;

pub const ROUTE: Route = Route::post("teams-invitation-accept", "/api/v1/team-invitations/accept")
    .summary("Joins a team with an invitation's code")
    .limit(Limit::Code)
    // Restricted users are rejected below with a more specific error.
    .open_to_restricted()
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamInvitationRestrictedUserNotAllowed,
        ErrorCode::TeamInvitationEmailMismatch,
        ErrorCode::TeamNotFound,
        ErrorCode::TooManyTeamMemberships,
    ]);

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<InvitationCode>,
    Input { body, .. }: Input<CodeBody>,
) -> Result<Json<Accepted>, Error> {
    let row = &access.access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    let (project, user) = (&access.access.project, &row.user);
    let caller = Subject::user(user.id);
    let member = async {
        match &access.hint {
            Some(hint) => app.store.member(&project.id, hint.team_id, user.id).await,
            None => Ok::<_, store::Error>(None),
        }
    };
    let (invitation, member) = tokio::try_join!(access.try_invitation(&app, &body.code, &caller), member)?;
    let invitation = invitation?;
    let is_hinted = access.hint.as_ref().is_some_and(|hint| hint.team_id == invitation.team_id);
    let member = if is_hinted { member } else { app.store.member(&project.id, invitation.team_id, user.id).await? };
    accept(&access.access, &invitation, By::Code, row, member.is_some()).await?;
    Ok(Json(Accepted {}))
}
