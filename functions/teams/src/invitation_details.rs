//! `POST /api/v1/team-invitations/accept/details`: returns the team of an invitation's code to a
//! signed-in user who may accept invitations. The request counts as an attempt.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, CodeBody, InvitationCode};
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::teams::no_team;
use model::limit::Limit;
use model::team::invitation::Invitation;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::TeamId;

pub const ROUTE: Route = Route::post("teams-invitation-details", "/api/v1/team-invitations/accept/details")
    .summary("Returns the team that an invitation is for")
    .limit(Limit::Code)
    // Restricted users are rejected in the handler with a more specific error.
    .admits(Admission::Restricted)
    .leaves_no_trail("it only counts an attempt; the code stays valid")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamInvitationRestrictedUserNotAllowed, ErrorCode::TeamNotFound]);

#[derive(Serialize, ToSchema)]
pub struct InvitationDetails {
    team_id: TeamId,
    team_display_name: String,
}

pub async fn handle(code: CodeAccess<InvitationCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<InvitationDetails>, Error> {
    let access = &code.access;
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    let team = async |invitation: Invitation| access.app.store.team(&access.project.id, invitation.team_id).await;
    let (Invitation { team_id, .. }, team) = code.try_invitation(&body.code, &access.subject(), team).await?;
    if let Some(restricted_reason) = access.restricted_reason(user) {
        return Err(KnownError::TeamInvitationRestrictedUserNotAllowed { restricted_reason }.into());
    }
    let team = team.ok_or_else(|| no_team(team_id))?.team;
    Ok(Json(InvitationDetails { team_id, team_display_name: team.display_name }))
}
