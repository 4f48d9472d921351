//! `POST /api/v1/contact-channels/verify/check-code`: checks whether a verification code is valid,
//! without redeeming it. The check counts as an attempt.

use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CheckedCode, CodeAccess, CodeBody, VerificationCode};
use errors::{CODE_ERRORS, Error};

pub const ROUTE: Route = Route::post("users-contact-channel-check-code", "/api/v1/contact-channels/verify/check-code")
    .summary("Checks a verification code without redeeming it")
    .checks_code()
    .errors(CODE_ERRORS);

pub async fn handle(access: CodeAccess<VerificationCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<CheckedCode>, Error> {
    access.decide(&body.code).await?;
    Ok(Json(CheckedCode { is_code_valid: true }))
}
