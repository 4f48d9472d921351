//! `POST /api/v1/team-invitations/accept/details`: returns the team that an invitation's code is
//! for, to a signed-in user who may accept invitations. The request counts as an attempt.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, CodeBody, InvitationCode};
use axum::extract::State;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use flows::teams::no_team;
use model::limit::Limit;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::TeamId;

pub const ROUTE: Route = Route::post("teams-invitation-details", "/api/v1/team-invitations/accept/details")
    .summary("Returns the team that an invitation is for")
    .limit(Limit::Code)
    // Restricted users are rejected below with a more specific error.
    .open_to_restricted()
    .leaves_no_trail("it only counts an attempt; the code stays valid")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamInvitationRestrictedUserNotAllowed, ErrorCode::TeamNotFound]);

#[derive(Serialize, ToSchema)]
pub struct InvitationDetails {
    team_id: TeamId,
    team_display_name: String,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<InvitationCode>,
    Input { body, .. }: Input<CodeBody>,
) -> Result<Json<InvitationDetails>, Error> {
    let user = &access.access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    let (project, caller) = (&access.access.project.id, access.access.subject());
    let team = async {
        match &access.hint {
            Some(hint) => app.store.team(project, hint.team_id).await,
            None => Ok::<_, store::Error>(None),
        }
    };
    let (invitation, team) = tokio::try_join!(access.try_invitation(&app, &body.code, &caller), team)?;
    let team_id = invitation?.team_id;
    if let Some(restricted_reason) = access.access.restricted_reason(user) {
        return Err(KnownError::TeamInvitationRestrictedUserNotAllowed { restricted_reason }.into());
    }
    let is_hinted = access.hint.as_ref().is_some_and(|hint| hint.team_id == team_id);
    let team = if is_hinted { team } else { app.store.team(project, team_id).await? };
    let team = team.ok_or_else(|| no_team(team_id))?.team;
    Ok(Json(InvitationDetails { team_id, team_display_name: team.display_name }))
}
