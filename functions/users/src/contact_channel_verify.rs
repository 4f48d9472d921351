//! `POST /api/v1/contact-channels/verify`: redeems the code of a verification mail. It does not sign in.

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::{Code, Purpose};
use shared::product_api::accounts::{With, change_read, redeemed};
use shared::product_api::code_access::{CodeAccess, VerificationCode};
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::{Error, Input, KnownError};
use shared::store::codes;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("users-contact-channel-verify", "/api/v1/contact-channels/verify")
    .summary("Verifies an e-mail address with the code from a mail")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[
        "VERIFICATION_CODE_NOT_FOUND",
        "VERIFICATION_CODE_EXPIRED",
        "VERIFICATION_CODE_ALREADY_USED",
        "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED",
        "CONTACT_CHANNEL_NOT_FOUND",
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Verify {
    code: Code,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<VerificationCode>,
    Input { body, .. }: Input<Verify>,
) -> Result<Json<Success>, Error> {
    let project = &access.access.project.id;
    let (stored, row) = access.decide(&app, &body.code).await?;
    let row = row.ok_or(KnownError::ContactChannelNotFound)?;
    let result = change_read(&app, project, row, KnownError::ContactChannelNotFound, |user| {
        if !user.verify_email(&stored.email) {
            return Err(KnownError::ContactChannelNotFound.into());
        }
        Ok(With(vec![codes::redeem(project, Purpose::VerifyEmail, &body.code)]))
    });
    redeemed(result.await)?;
    Ok(Json(SUCCESS))
}
