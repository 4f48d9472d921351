//! `POST /api/v1/auth/password/send-reset-code`: emails a link for setting a new password.
//!
//! For an email address without an account, the response and the work are the same: a code and an
//! email are written, but nobody receives the email.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::email::code::CodeEmail;
use flows::email::gate::{self, Address};
use jiff::Timestamp;
use model::code::{Purpose, StoredCode};
use model::document::builtin::Builtin;
use model::email::Email;
use model::email::any::AnyEmail;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::UserId;

pub const ROUTE: Route = Route::post("auth-password-send-reset-code", "/api/v1/auth/password/send-reset-code")
    .summary("Emails a link for setting a new password")
    .limit(Limit::SendCode)
    .admits(Admission::Restricted)
    .hides_accounts()
    .table(&[BatchGetItem, GetItem, PutItem])
    .reads(&[NamedItem::EmailClaim])
    .errors(&[ErrorCode::PasswordAuthenticationNotEnabled, ErrorCode::RedirectUrlNotWhitelisted]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendResetCode {
    email: AnyEmail,
    /// The URL to which the link in the email leads. The parameter `code` is added to the query of
    /// this URL.
    callback_url: RedirectUrl,
}

#[derive(Serialize, ToSchema)]
#[schema(as = MaybeSent)]
pub struct ResetCodeAnswer {
    /// The text does not depend on whether the address has an account.
    success: &'static str,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SendResetCode>,
) -> Result<Json<ResetCodeAnswer>, Error> {
    let project = &access.project.id;
    if !access.project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    access.redirects().check(&body.callback_url)?;
    let claim = access.prefetched.email_claim(project, &body.email).await?;
    let now = app.clock.now();
    let exists = claim.is_some();
    let (user_id, epoch) = claim.map_or_else(|| (UserId::from(app.entropy.uuid()), 0), |claim| (claim.user_id, claim.epoch));
    let stored = stored(body.email.0, user_id, epoch, now);
    // The limit per domain does not apply, because it would reveal which addresses are unproved. A
    // stranger could also use the limit to block password resets for all users at the domain.
    let recipient = gate::recipient(&access, &stored.email, Address::Proved).await?;
    let email = CodeEmail { app: &app, project, callback: &body.callback_url, now };
    let writes = if exists {
        email.writes(recipient, &stored, Builtin::ResetPassword)?.1
    } else {
        email.decoys(recipient, &stored, Builtin::ResetPassword)?
    };
    app.store.transact(writes).await?;
    Ok(Json(ResetCodeAnswer { success: "maybe, only if user with e-mail exists" }))
}

fn stored(email: Email, user_id: UserId, epoch: u64, now: Timestamp) -> StoredCode {
    let expires_at = after(now, Purpose::ResetPassword.life());
    StoredCode { purpose: Purpose::ResetPassword, email, user_id: Some(user_id), channel_id: None, expires_at, used: false, epoch }
}
