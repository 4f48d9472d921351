//! `POST /api/v1/auth/mfa/sign-in`: ends a sign-in that waits for its second factor.
//!
//! A wrong code leaves the attempt as it is, but for its count. A right one is accepted once: the attempt, the time step of the code and
//! the session are one transaction.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{AttemptCode, CodeAccess};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::Failures;
use model::code::{Code, Rejected};
use model::limit::Limit;
use model::session::Amr;
use model::trail::Event;
use serde::Serialize;
use store::{Label, code, user};
use utoipa::ToSchema;

use crate::sign_in::notice;
use crate::sign_in::tokens::{NewSession, SignedInOrUp};

pub const ROUTE: Route = Route::post("auth-mfa-sign-in", "/api/v1/auth/mfa/sign-in")
    .summary("Ends a sign-in with a code of the user's authenticator app")
    .limit(Limit::SignIn)
    .open_to_restricted()
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[ErrorCode::InvalidTotpCode]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MfaSignIn {
    /// The `attempt_code` of `MULTI_FACTOR_AUTHENTICATION_REQUIRED`.
    code: Code,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    _type: Factor,
    /// The six digits that the app shows.
    totp: String,
}

/// A kind of second factor.
#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Factor {
    #[deserr(rename = "totp")]
    Totp,
}

pub async fn handle(
    State(app): State<App>,
    CodeAccess { access, hint, .. }: CodeAccess<AttemptCode>,
    Input { body, .. }: Input<MfaSignIn>,
) -> Result<Json<SignedInOrUp>, Error> {
    let (project, now) = (&access.project.id, app.clock.now());
    let hinted = hint.as_ref().map(|attempt| (attempt.user_id, Failures::of_second_factor(&app, project, attempt.user_id)));
    let early = async {
        match &hinted {
            Some((user, failures)) => tokio::try_join!(app.store.user(project, *user), failures.look()).map(|(row, ())| row),
            None => Ok(None),
        }
    };
    let (decision, row) = tokio::try_join!(app.store.try_attempt(project, &body.code, now), early)?;
    let attempt = decision?;
    // What was read early was a hint alone.
    let row = match row.filter(|row| row.user.id == attempt.user_id) {
        Some(row) => Some(row),
        None => app.store.user(project, attempt.user_id).await?,
    };
    // What ended the user's sessions or codes ended this sign-in, too.
    let row = row.filter(|row| attempt.is_of_epoch(&row.user)).ok_or(Rejected::NotFound)?;
    let totp = row.user.totp.as_ref().ok_or(KnownError::InvalidTotpCode)?;
    // An attempt counts its own guesses; whoever has the password gets new attempts, so the account's are counted as well.
    let failures = hinted.filter(|(user, _)| *user == row.user.id).map(|(_, failures)| failures);
    let failures = failures.unwrap_or_else(|| Failures::of_second_factor(&app, project, row.user.id));
    let Some(step) = totp.check(&app.sealer, project, row.user.id, body.totp.trim(), now)? else {
        failures.count().await?;
        app.store.record_failure(Some(row.user.id), Event::SignInFailed).await?;
        return Err(KnownError::InvalidTotpCode.into());
    };

    let amr = attempt.amr.into_iter().chain([Amr::Otp, Amr::Mfa]).collect();
    let session = NewSession::start(&app, &access.project, &row.user, &access.place, amr);
    let mut writes = vec![code::redeem_attempt(project, &body.code), user::use_totp_step(project, &row.user, totp, step)?];
    writes.extend(session.writes(&access.project)?);
    writes.extend(notice::write(&app, &access.project, &row.user, &access.place).await?);
    writes.extend(failures.still_allowed());
    match app.store.transact(writes).await {
        Ok(()) => {
            let signed_in = session.signed_in(&app, &access.project, &row.user);
            Ok(Json(SignedInOrUp { signed_in, is_new_user: attempt.is_new_user }))
        }
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Err(Rejected::AlreadyUsed.into()),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::TotpStep) => Err(KnownError::InvalidTotpCode.into()),
        Err(error) => Err(error.into()),
    }
}
