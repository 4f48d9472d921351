//! `POST /api/v1/auth/password/send-reset-code`: mails a link that sets a new password, to whoever has an account.
//!
//! The answer is the same for an address without an account, after as many reads and writes: then codes are written that nobody gets.

use axum::extract::State;
use deserr::Deserr;
use jiff::Timestamp;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem};
use shared::http::{Json, Route};
use shared::mail::code;
use shared::model::code::{Code, Purpose, StoredCode};
use shared::model::email::Email;
use shared::model::id::{ProjectId, UserId};
use shared::model::limit::Limit;
use shared::model::outbox::Builtin;
use shared::model::redirect::RedirectUrl;
use shared::model::session::after;
use shared::product_api::access::Level;
use shared::product_api::{Access, Client, Error, Input, KnownError, limits};
use shared::store::{self, Write, codes};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-password-send-reset-code", "/api/v1/auth/password/send-reset-code")
    .summary("Mails a link that sets a new password")
    .limit(Limit::SendCode)
    .table(&[BatchGetItem, GetItem, PutItem])
    .errors(&["PASSWORD_AUTHENTICATION_NOT_ENABLED", "REDIRECT_URL_NOT_WHITELISTED"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendResetCode {
    email: Email,
    /// Base of the link in the mail, which gets the query parameter `code`.
    callback_url: RedirectUrl,
}

#[derive(Serialize, ToSchema)]
pub struct MaybeSent {
    /// The same sentence whether or not there is an account.
    success: &'static str,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SendResetCode>,
) -> Result<Json<MaybeSent>, Error> {
    let project = &access.project.id;
    if !access.project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    if !access.project.redirects().trust(&body.callback_url) {
        return Err(KnownError::RedirectUrlNotWhitelisted.into());
    }
    let claim = app.store.email_claim(project, &body.email).await?;
    let now = app.clock.now();
    let writes = match claim {
        Some(claim) => {
            let stored = stored(body.email, Some(claim.user_id), now);
            code::writes(&app, project, access.level, &stored, Builtin::ResetPassword, &body.callback_url, now)?.1
        }
        None => decoys(&app, project, access.level, &body.email, now)?,
    };
    app.store.transact(writes).await?;
    Ok(Json(MaybeSent { success: "maybe, only if user with e-mail exists" }))
}

fn stored(email: Email, user_id: Option<UserId>, now: Timestamp) -> StoredCode {
    let expires_at = after(now, Purpose::ResetPassword.life());
    StoredCode { purpose: Purpose::ResetPassword, email, user_id, channel_id: None, expires_at, used: false }
}

/// Codes of nobody, which nobody learns: two writes, as a code and its mail are, and the recipient is counted as if there were one.
fn decoys(app: &App, project: &ProjectId, level: Level, email: &Email, now: Timestamp) -> Result<Vec<Write>, store::Error> {
    let write = || codes::create(project, &Code::new(app.entropy.code()), &stored(email.clone(), None, now));
    let mut writes = vec![write()?, write()?];
    writes.extend(limits::recipient(app, project, level, email));
    Ok(writes)
}
