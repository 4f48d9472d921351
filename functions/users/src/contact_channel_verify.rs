//! `POST /api/v1/contact-channels/verify`: redeems the code of a verification email. The
//! verification neither signs a user in nor gives the account a new owner, which would remove the
//! password and end all sessions. People often open the email in a browser without the session of
//! their sign-up, and then appear to be strangers. For the same reason, a verification without a
//! session of the account does not count as the first proof of the address, but the next proof
//! does. A recipient who did not create the account can release the address with another link in
//! the email.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, VerificationCode};
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, redeemed, verify_read};
use flows::literal::{SUCCESS, Success};
use model::code::{Code, CodeRefusal, Purpose};
use model::limit::Limit;
use store::code;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("users-contact-channel-verify", "/api/v1/contact-channels/verify")
    .summary("Verifies an email address with the code from an email")
    .limit(Limit::Code)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[ErrorCode::ContactChannelNotFound, ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Verify {
    code: Code,
}

pub async fn handle(access: CodeAccess<VerificationCode>, Input { body, .. }: Input<Verify>) -> Result<Json<Success>, Error> {
    let project = &access.access.project.id;
    let (stored, row) = access.decide(&body.code).await?;
    let row = row.ok_or(KnownError::ContactChannelNotFound)?;
    let result = verify_read(&access.access, row, KnownError::ContactChannelNotFound, |user| {
        if !stored.is_of_epoch(user) {
            return Err(CodeRefusal::NotFound.into());
        }
        if !user.verify_email(&stored.email, access.access.prover(user)) {
            return Err(KnownError::ContactChannelNotFound.into());
        }
        Ok(ExtraWrites(vec![code::redeem(project, Purpose::VerifyEmail, &body.code)]))
    });
    redeemed(result.await)?;
    Ok(Json(SUCCESS))
}
