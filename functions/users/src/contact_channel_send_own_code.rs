//! `POST /api/v1/contact-channels/send-verification-code`: mails the signed-in user a code that verifies its primary address. SDKs name
//! the address instead of its channel here.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::literal::Success;
use flows::{App, guarded_body};
use model::email::Email;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;

use crate::channels::sending::send;

pub const ROUTE: Route = Route::post("users-contact-channel-send-own-code", "/api/v1/contact-channels/send-verification-code")
    .summary("Mails the signed-in user a code that verifies its primary address")
    .limit(Limit::SendCode)
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::EmailIsNotPrimaryEmail,
        ErrorCode::EmailAlreadyVerified,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
    ]);

guarded_body! {
    pub struct SendOwnVerificationCode {
        email: Email,
        /// Base of the link in the mail, which gets the query parameter `code`.
        callback_url: RedirectUrl,
    }
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SendOwnVerificationCode>,
) -> Result<Json<Success>, Error> {
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    match user.primary() {
        Some(primary) if primary.value == body.email => send(&app, &access, user, primary, &body.callback_url, body.presented()).await,
        primary => {
            let primary_email = primary.map(|channel| channel.value.to_string());
            Err(KnownError::EmailIsNotPrimaryEmail { email: body.email.to_string(), primary_email }.into())
        }
    }
}
