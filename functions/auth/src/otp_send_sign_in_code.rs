//! `POST /api/v1/auth/otp/send-sign-in-code`: emails a code and a link for signing in. If the email
//! address has no account, redeeming the code creates an account, or turns the caller's anonymous
//! user into an ordinary user.
//!
//! The sign-up rules apply when the code is redeemed. If the rules already applied when the code is
//! sent, a rejection, for example because of the caller's location, would reveal that the address
//! has no account.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::bot_challenge::Check;
use flows::email::code::CodeEmail;
use flows::email::gate::{self, Address};
use flows::{App, guarded_body};
use model::bot_challenge::GuardedOperation;
use model::code::{Purpose, StoredCode};
use model::document::builtin::Builtin;
use model::email::Email;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;

use crate::sign_in::otp::may_sign_in;

pub const ROUTE: Route = Route::post("auth-otp-send-sign-in-code", "/api/v1/auth/otp/send-sign-in-code")
    .summary("Emails a code and a link for signing in")
    .limit(Limit::SendCode)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, GetItem, PutItem])
    .reads(&[NamedItem::EmailClaim])
    .errors(&[
        ErrorCode::MagicLinkNotEnabled,
        ErrorCode::SignUpNotEnabled,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
    ]);

guarded_body! {
    pub struct SendSignInCode {
        email: Email,
        /// The URL to which the link in the email leads. The parameter `code` is added to the query
        /// of this URL.
        callback_url: RedirectUrl,
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Sent)]
pub struct SentSignInCode {
    /// The last 39 characters of the code. To sign in, the app sends the six characters that the
    /// user types from the email, followed by the nonce.
    nonce: String,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SendSignInCode>,
) -> Result<Json<SentSignInCode>, Error> {
    let project = &access.project.id;
    if !access.project.config.magic_link_enabled {
        return Err(KnownError::MagicLinkNotEnabled.into());
    }
    let claim = access.prefetched.email_claim(project, &body.email).await?;
    may_sign_in(&access.project.config, claim.as_ref())?;
    access.redirects().check(&body.callback_url)?;
    let now = app.clock.now();
    let admitted = Check::new(&access, GuardedOperation::SendSignInCode).admit(body.presented()).await?;
    let is_proved = claim.as_ref().is_some_and(|claim| claim.is_verified);
    let address = if is_proved { Address::Proved } else { Address::Unproved };
    let stored = StoredCode {
        purpose: Purpose::SignIn,
        email: body.email,
        epoch: claim.as_ref().map_or(0, |claim| claim.epoch),
        user_id: claim.map(|claim| claim.user_id),
        channel_id: None,
        expires_at: after(now, Purpose::SignIn.life()),
        used: false,
    };
    let recipient = gate::recipient(&access, &stored.email, address).await?;
    let email = CodeEmail { app: &app, project, callback: &body.callback_url, now };
    let (code, writes) = email.writes(recipient, &stored, Builtin::SignIn)?;
    admitted.counted_with(app.store.transact(writes)).await?;
    Ok(Json(SentSignInCode { nonce: code.nonce() }))
}
