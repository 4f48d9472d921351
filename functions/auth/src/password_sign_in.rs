//! `POST /api/v1/auth/password/sign-in`: signs in with an email address and a password.
//!
//! The response to a failed sign-in is always the same. It does not reveal whether the email
//! address is unknown, the password is wrong, the account has no password, or too many wrong
//! passwords have closed the account to passwords. All failed sign-ins also take the same number of
//! reads and writes, and one password check.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, NamedItem, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use crypto::password::hash::Verdict;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::Failures;
use model::email::any::AnyEmail;
use model::limit::Limit;
use model::session::Amr;
use model::user::User;
use model::user::device::Device;
use store::user::{self, UserRow};
use utoipa::ToSchema;
use wire::id::UserId;
use wire::problem::Problems;

use crate::sign_in::tokens::{NewSession, SignInTokens};
use crate::sign_in::{notice, remembered, required_teams, second_factor, wrong_password};

pub const ROUTE: Route = Route::post("auth-password-sign-in", "/api/v1/auth/password/sign-in")
    .summary("Signs in with email address and password")
    .limit(Limit::SignIn)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::EmailClaim])
    .errors(&[ErrorCode::PasswordAuthenticationNotEnabled, ErrorCode::EmailPasswordMismatch, ErrorCode::MultiFactorAuthenticationRequired])
    .needs(&[Need::Hashing]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SignIn {
    /// An email address. A malformed address matches no account.
    email: String,
    password: Password,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SignIn>,
) -> Result<Json<SignInTokens>, Error> {
    if !access.project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    if body.email.trim().is_empty() {
        return Err(ROUTE.schema_error(&Problems::one("body.email", "must not be empty")).into());
    }
    let failures = Failures::for_email(&app, &access.project.id, &body.email);
    let (attempt, (row, device)) = futures_util::try_join!(failures.begin(), find(&access, &body.email))?;
    let open = row.as_ref().filter(|row| !row.user.is_closed_to_passwords());
    let hash = open.and_then(|row| row.user.password.as_ref());
    let verdict = app.hasher.verify(hash, &body.password, access.project.dearest_bcrypt_cost).await;
    if let Some(hash) = hash {
        app.store.note_bcrypt_cost(&access.project, hash).await?;
    }
    let mut row = match row {
        Some(row) if verdict != Verdict::Wrong => row,
        row => {
            wrong_password::count(&access, &failures, row.as_ref().map(|row| &row.user)).await?;
            return Err(KnownError::EmailPasswordMismatch.into());
        }
    };

    let forget = (row.user.wrong_passwords > 0).then(|| user::password::forget_wrong_passwords(&access.project.id, row.user.id));
    if device.is_none()
        && let Some((second, required)) = second_factor::required(&app, &access.project, &row.user, false, Amr::Pwd)?
    {
        attempt.permit(Box::pin(app.store.transact([second].into_iter().chain(forget)))).await?;
        rehash(&access, &row.user, verdict, &body.password).await;
        return Err(required.into());
    }
    let session = NewSession::start(&app, &access.project, &row.user, &access.place, vec![Amr::Pwd]).on(device);
    let begin = async {
        let notice = notice::write(&app, &access.project, &row.user, &access.place).await?;
        Ok::<_, Error>(app.store.transact(session.writes(&access.project)?.into_iter().chain(forget).chain(notice)).await?)
    };
    attempt.permit(Box::pin(begin)).await?;
    rehash(&access, &row.user, verdict, &body.password).await;
    required_teams::renew(&app, &access.project, &mut row.user).await?;
    Ok(Json(session.signed_in(&app, &access.project, &row.user).await?))
}

/// The user with this sign-in address, and the remembered device that replaces the user's second
/// factor, if they exist. For an unknown address, another user is read, so that the number of reads
/// is the same as for a known address.
async fn find(access: &Access<Client>, email: &str) -> Result<(Option<UserRow>, Option<Device>), store::Error> {
    let project = &access.project.id;
    let claim = match AnyEmail::parse(email) {
        Ok(email) => access.prefetched.email_claim(project, &email).await?,
        Err(_) => None,
    };
    let nobody = UserId::from(uuid::Uuid::nil());
    let id = claim.map_or(nobody, |claim| claim.user_id);
    remembered::user_and_device(&access.app, &access.project, id, access.device.as_ref()).await
}

/// Replaces an outdated hash ([`Verdict::RightButWeak`]). If the password has changed in the
/// meantime, the hash of the new password is kept. The sign-in has already succeeded, so a failure
/// is only logged. The next sign-in replaces the hash.
async fn rehash(access: &Access<Client>, user: &User, verdict: Verdict, password: &Password) {
    if verdict != Verdict::RightButWeak {
        return;
    }
    let hash = access.app.hasher.hash(&access.app.entropy, password.secret()).await;
    let replaced = match user::password::rehash(&access.project.id, user, &hash) {
        Ok(write) => access.app.store.write_unrecorded(write).await,
        Err(error) => Err(error),
    };
    if let Err(error) = replaced {
        tracing::warn!(%error, "an outdated password hash was not replaced");
    }
}
