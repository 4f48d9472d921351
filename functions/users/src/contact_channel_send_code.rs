//! `POST /api/v1/contact-channels/{user_id}/{contact_channel_id}/send-verification-code`: emails a
//! code that verifies the email address of a channel.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use flows::guarded_body;
use flows::literal::Success;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;

use crate::channels::change::ChannelPath;
use crate::channels::sending::send;

pub const ROUTE: Route =
    Route::post("users-contact-channel-send-code", "/api/v1/contact-channels/{user_id}/{contact_channel_id}/send-verification-code")
        .summary("Emails a code that verifies an address")
        .limit(Limit::SendCode)
        .admits(Admission::Owing)
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .reads(&[NamedItem::User])
        .errors(USER_REFERENCE_ERRORS)
        .errors(&[
            ErrorCode::UserIdDoesNotExist,
            ErrorCode::ContactChannelNotFound,
            ErrorCode::EmailAlreadyVerified,
            ErrorCode::SignUpNotEnabled,
            ErrorCode::RedirectUrlNotWhitelisted,
            ErrorCode::BotChallengeRequired,
            ErrorCode::BotChallengeFailed,
        ]);

guarded_body! {
    pub struct SendVerificationCode {
        /// The URL to which the link in the email leads. The parameter `code` is added to the query
        /// of this URL.
        callback_url: RedirectUrl,
    }
}

pub async fn handle(
    access: Access<Client>,
    Input { body, path, .. }: Input<SendVerificationCode, Nothing, ChannelPath>,
) -> Result<Json<Success>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let row = read(&access, user_id).await?.ok_or_else(|| KnownError::UserIdDoesNotExist { user_id: user_id.to_string() })?;
    let channel = row.user.channel(path.contact_channel_id).ok_or(KnownError::ContactChannelNotFound)?;
    send(&access, &row.user, channel, &body.callback_url, body.presented()).await
}
