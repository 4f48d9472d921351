//! `POST /api/v1/team-invitations/accept/check-code`: says whether the code of an invitation would be accepted. It counts an attempt.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, InvitationCode};
use axum::extract::State;
use errors::{CODE_ERRORS, Error};
use flows::App;
use model::limit::Limit;
use serde::Serialize;
use utoipa::ToSchema;

use crate::invitations::input::InvitationCodeBody;

pub const ROUTE: Route = Route::post("teams-invitation-check-code", "/api/v1/team-invitations/accept/check-code")
    .summary("Checks the code of an invitation without accepting it")
    .limit(Limit::Code)
    .open_to_restricted()
    .leaves_no_trail("it counts a try at a code, which stays as good as it was")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS);

#[derive(Serialize, ToSchema)]
pub struct ValidInvitationCode {
    is_code_valid: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<InvitationCode>,
    Input { body, .. }: Input<InvitationCodeBody>,
) -> Result<Json<ValidInvitationCode>, Error> {
    access.try_invitation(&app, &body.code, &access.access.subject()).await??;
    Ok(Json(ValidInvitationCode { is_code_valid: true }))
}
