//! `POST /api/v1/contact-channels/verify`: redeems the code of a verification email. It does not sign in, and it never makes
//! anybody the owner of an account: people open the email in another browser than the one they signed up in. Whoever has no such account
//! releases the address by another link of the same email.

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::{Code, Purpose, Rejected};
use shared::model::limit::Limit;
use shared::product_api::Input;
use shared::product_api::accounts::{With, redeemed, verify_read};
use shared::product_api::code_access::{CodeAccess, VerificationCode};
use shared::product_api::error::{Error, KnownError};
use shared::product_api::literal::{SUCCESS, Success};
use shared::store::codes;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("users-contact-channel-verify", "/api/v1/contact-channels/verify")
    .summary("Verifies an e-mail address with the code from a mail")
    .limit(Limit::Code)
    .open_to_restricted()
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[
        "VERIFICATION_CODE_NOT_FOUND",
        "VERIFICATION_CODE_EXPIRED",
        "VERIFICATION_CODE_ALREADY_USED",
        "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED",
        "CONTACT_CHANNEL_NOT_FOUND",
        "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE",
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
    let result = verify_read(&access.access, row, KnownError::ContactChannelNotFound, |user| {
        if !stored.is_of_epoch(user) {
            return Err(Rejected::NotFound.into());
        }
        if !user.verify_email(&stored.email) {
            return Err(KnownError::ContactChannelNotFound.into());
        }
        Ok(With(vec![codes::redeem(project, Purpose::VerifyEmail, &body.code)]))
    });
    redeemed(result.await)?;
    Ok(Json(SUCCESS))
}
