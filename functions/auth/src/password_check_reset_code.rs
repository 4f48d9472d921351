//! `POST /api/v1/auth/password/reset/check-code`: checks whether a reset code is valid, without
//! redeeming it. The check counts as an attempt.

use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CheckedCode, CodeAccess, CodeBody, ResetCode};
use errors::{CODE_ERRORS, Error, KnownError};

pub const ROUTE: Route = Route::post("auth-password-check-reset-code", "/api/v1/auth/password/reset/check-code")
    .summary("Checks a password reset code without redeeming it")
    .checks_code()
    .errors(CODE_ERRORS);

pub async fn handle(access: CodeAccess<ResetCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<CheckedCode>, Error> {
    let (_, row) = access.decide(&body.code).await?;
    row.ok_or(KnownError::VerificationCodeNotFound)?;
    Ok(Json(CheckedCode { is_code_valid: true }))
}
