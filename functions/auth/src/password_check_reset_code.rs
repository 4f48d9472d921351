//! `POST /api/v1/auth/password/reset/check-code`: says whether a reset code would be accepted, without redeeming it. It counts an attempt.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, ResetCode};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, KnownError};
use flows::App;
use model::code::Code;
use model::limit::Limit;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-password-check-reset-code", "/api/v1/auth/password/reset/check-code")
    .summary("Checks a password reset code without redeeming it")
    .limit(Limit::Code)
    .open_to_restricted()
    .leaves_no_trail("it counts a try at a code, which stays as good as it was")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CheckResetCode {
    code: Code,
}

#[derive(Serialize, ToSchema)]
pub struct ValidResetCode {
    is_code_valid: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<ResetCode>,
    Input { body, .. }: Input<CheckResetCode>,
) -> Result<Json<ValidResetCode>, Error> {
    let (_, row) = access.decide(&app, &body.code).await?;
    row.ok_or(KnownError::VerificationCodeNotFound)?;
    Ok(Json(ValidResetCode { is_code_valid: true }))
}
