//! `POST /api/v1/auth/otp/sign-in/check-code`: checks whether a sign-in code is valid, but not
//! whether its user may sign in. The code is not redeemed.
//!
//! The check counts as an attempt, like a sign-in, because codes could otherwise be guessed without
//! limit.

use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CheckedCode, CodeAccess, CodeBody, SignInCode};
use errors::Error;

pub const ROUTE: Route = Route::post("auth-otp-check-sign-in-code", "/api/v1/auth/otp/sign-in/check-code")
    .summary("Checks a sign-in code without redeeming it")
    .checks_code();

pub async fn handle(access: CodeAccess<SignInCode>, Input { body, .. }: Input<CodeBody>) -> Result<Json<CheckedCode>, Error> {
    let is_code_valid = match access.decide(&body.code).await {
        // A code that was sent to an account is invalid if the account no longer exists.
        Ok((stored, row)) => stored.user_id.is_none() || row.is_some(),
        Err(Error::Known(_)) => false,
        Err(error) => return Err(error),
    };
    Ok(Json(CheckedCode { is_code_valid }))
}
