//! `POST /api/v1/team-invitations/accept/check-code`: checks whether the code of an invitation is
//! valid, but not whether the caller may accept the invitation. The check counts as an attempt.

use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CheckedCode, CodeAccess, CodeBody, InvitationCode};
use errors::{CODE_ERRORS, Error};

pub const ROUTE: Route = Route::post("teams-invitation-check-code", "/api/v1/team-invitations/accept/check-code")
    .summary("Checks an invitation's code without accepting the invitation")
    .checks_code()
    .errors(CODE_ERRORS);

pub async fn handle(access: CodeAccess<InvitationCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<CheckedCode>, Error> {
    access.try_invitation(&body.code, &access.access.subject(), async |_| Ok(())).await?;
    Ok(Json(CheckedCode { is_code_valid: true }))
}
