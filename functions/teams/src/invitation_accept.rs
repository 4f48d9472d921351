//! `POST /api/v1/team-invitations/accept`: adds the signed-in user to a team with an invitation's
//! code. The invitation must have been sent to one of the user's verified email addresses. Only one
//! of several concurrent requests succeeds.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, CodeBody, InvitationCode};
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use model::limit::{Limit, Subject};
use model::team::invitation::AcceptanceWay;

use crate::invitations::accepting::{Memberships, accept};
use crate::invitations::input::AcceptedInvitation;

pub const ROUTE: Route = Route::post("teams-invitation-accept", "/api/v1/team-invitations/accept")
    .summary("Joins a team with an invitation's code")
    .limit(Limit::Code)
    // Restricted users are rejected in the handler with a more specific error.
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamInvitationRestrictedUserNotAllowed,
        ErrorCode::TeamInvitationEmailMismatch,
        ErrorCode::TeamNotFound,
        ErrorCode::TooManyTeamMemberships,
    ]);

pub async fn handle(code: CodeAccess<InvitationCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<AcceptedInvitation>, Error> {
    let access = &code.access;
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    let user = row.user.id;
    let read = |invitation| Box::pin(Memberships::read(access, invitation, user));
    let (invitation, memberships) = code.try_invitation(&body.code, &Subject::user(user), read).await?;
    accept(access, &invitation, AcceptanceWay::Code, row, memberships).await?;
    Ok(Json(AcceptedInvitation {}))
}
