//! `POST /api/v1/contact-channels/verify/check-code`: says whether a verification code would be accepted, without redeeming it. It counts
//! an attempt.

use axum::extract::State;
use deserr::Deserr;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::Code;
use shared::model::limit::Limit;
use shared::product_api::Input;
use shared::product_api::code_access::{CodeAccess, VerificationCode};
use shared::product_api::error::Error;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("users-contact-channel-check-code", "/api/v1/contact-channels/verify/check-code")
    .summary("Checks a verification code without redeeming it")
    .limit(Limit::Code)
    .open_to_restricted()
    .leaves_no_trail("it counts a try at a code, which stays as good as it was")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[
        "VERIFICATION_CODE_NOT_FOUND",
        "VERIFICATION_CODE_EXPIRED",
        "VERIFICATION_CODE_ALREADY_USED",
        "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED",
    ]);

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
