//! `POST /api/v1/contact-channels/verify`: redeems the code of a verification mail. It does not sign in.

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::{Code, Purpose, Rejected, StoredCode};
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::{Access, Client, Error, Input, KnownError};
use shared::store::users::{self, EmailClaim};
use shared::store::{self, codes};
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

/// How often a verification looks again when the account changed under it.
const TRIES: u32 = 3;

pub async fn handle(State(app): State<App>, access: Access<Client>, Input { body, .. }: Input<Verify>) -> Result<Json<Success>, Error> {
    let stored = app.store.try_code(&access.project.id, Purpose::VerifyEmail, &body.code, app.clock.now()).await??;
    for _ in 1..TRIES {
        match verify(&app, &access, &body.code, &stored).await {
            Err(Error::Store(store::Error::Conflict(failed))) if !failed.contains(&0) => {}
            result => return finish(result),
        }
    }
    finish(verify(&app, &access, &body.code, &stored).await)
}

/// The redemption is the first write: when its condition failed, somebody else was faster.
fn finish(result: Result<(), Error>) -> Result<Json<Success>, Error> {
    match result {
        Err(Error::Store(store::Error::Conflict(failed))) if failed.contains(&0) => Err(Rejected::AlreadyUsed.into()),
        result => result.map(|()| Json(SUCCESS)),
    }
}

async fn verify(app: &App, access: &Access<Client>, code: &Code, stored: &StoredCode) -> Result<(), Error> {
    let project = &access.project.id;
    let user_id = stored.user_id.ok_or(KnownError::ContactChannelNotFound)?;
    let row = app.store.user(project, user_id).await?.ok_or(KnownError::ContactChannelNotFound)?;
    let mut user = row.user;
    if !user.verify_email(&stored.email) {
        return Err(KnownError::ContactChannelNotFound.into());
    }
    let mut writes = vec![codes::redeem(project, Purpose::VerifyEmail, code), users::replace(project, &user, row.version)?];
    if user.channel_of(&stored.email).is_some_and(|channel| channel.used_for_auth) {
        writes.push(users::renew_email_claim(project, &stored.email, &EmailClaim { user_id, is_verified: true })?);
    }
    Ok(app.store.transact(writes).await?)
}
