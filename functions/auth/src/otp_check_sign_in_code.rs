//! `POST /api/v1/auth/otp/sign-in/check-code`: says whether a sign-in code would be accepted, without redeeming it.
//!
//! It counts an attempt like a sign-in does; otherwise it would be an oracle for guessing.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, SignInCode};
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use model::code::Code;
use model::limit::Limit;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-otp-check-sign-in-code", "/api/v1/auth/otp/sign-in/check-code")
    .summary("Checks a sign-in code without redeeming it")
    .limit(Limit::Code)
    .open_to_restricted()
    .leaves_no_trail("it counts a try at a code, which stays as good as it was")
    .table(&[BatchGetItem, GetItem, UpdateItem]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CheckCode {
    /// For a link, the value of its query parameter `code`; for a typed code, its six characters followed by the nonce.
    code: Code,
}

#[derive(Serialize, ToSchema)]
pub struct Checked {
    is_code_valid: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<SignInCode>,
    Input { body, .. }: Input<CheckCode>,
) -> Result<Json<Checked>, Error> {
    let is_code_valid = match access.decide(&app, &body.code).await {
        // A code for an account is good for nothing without it.
        Ok((stored, row)) => stored.user_id.is_none() || row.is_some(),
        Err(Error::Known(_)) => false,
        Err(error) => return Err(error),
    };
    Ok(Json(Checked { is_code_valid }))
}
