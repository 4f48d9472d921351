//! `POST /api/v1/contact-channels/send-verification-code`: emails the signed-in user a code that
//! verifies the user's primary email address. The operation is for SDKs that know the address but
//! not the id of its channel.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError};
use flows::guarded_body;
use flows::literal::Success;
use model::email::Email;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;

use crate::channels::sending::send;

pub const ROUTE: Route = Route::post("users-contact-channel-send-own-code", "/api/v1/contact-channels/send-verification-code")
    .summary("Emails the signed-in user a code that verifies the primary address")
    .limit(Limit::SendCode)
    .admits(Admission::Owing)
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::EmailIsNotPrimaryEmail,
        ErrorCode::EmailAlreadyVerified,
        ErrorCode::SignUpNotEnabled,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
    ]);

guarded_body! {
    pub struct SendOwnVerificationCode {
        email: Email,
        /// The URL to which the link in the email leads. The parameter `code` is added to the query
        /// of this URL.
        callback_url: RedirectUrl,
    }
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<SendOwnVerificationCode>) -> Result<Json<Success>, Error> {
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    match user.primary() {
        Some(primary) if primary.value == body.email => send(&access, user, primary, &body.callback_url, body.presented()).await,
        primary => {
            let primary_email = primary.map(|channel| channel.value.to_string());
            Err(KnownError::EmailIsNotPrimaryEmail { email: body.email.to_string(), primary_email }.into())
        }
    }
}
