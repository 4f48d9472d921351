//! `POST /api/v1/contact-channels/verify/check-code`: says whether a verification code would be accepted, without redeeming it. It counts
//! an attempt.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, VerificationCode};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error};
use flows::App;
use model::code::Code;
use model::limit::Limit;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("users-contact-channel-check-code", "/api/v1/contact-channels/verify/check-code")
    .summary("Checks a verification code without redeeming it")
    .limit(Limit::Code)
    .open_to_restricted()
    .leaves_no_trail("it counts a try at a code, which stays as good as it was")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CheckVerificationCode {
    code: Code,
}

#[derive(Serialize, ToSchema)]
pub struct ValidVerificationCode {
    is_code_valid: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<VerificationCode>,
    Input { body, .. }: Input<CheckVerificationCode>,
) -> Result<Json<ValidVerificationCode>, Error> {
    access.decide(&app, &body.code).await?;
    Ok(Json(ValidVerificationCode { is_code_valid: true }))
}
