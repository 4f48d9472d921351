//! `POST /api/v1/auth/mfa/recovery-codes`: creates a set of recovery codes for the signed-in user.
//! The new set replaces any earlier set. Only the response to this request contains the codes.
//!
//! Each code can be used once in place of a code from the authenticator app. Like removing an app,
//! creating a set therefore requires a recent sign-in or reauthentication. The owner is notified,
//! unless the project has disabled notices about authenticator apps.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::recovery::RecoveryCode;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::{ExtraWrites, change_as};
use model::limit::Limit;
use model::user::recovery::{self, RecoveryCodes};
use serde::Serialize;
use utoipa::ToSchema;

// Hashing ten codes is slow, so the operation has a stricter limit than other writes.
pub const ROUTE: Route = Route::post("auth-mfa-recovery-codes-create", "/api/v1/auth/mfa/recovery-codes")
    .summary("Creates recovery codes, which replace codes of the authenticator app")
    .limit(Limit::SignIn)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::ReauthenticationRequired, ErrorCode::AuthenticatorAppRequired])
    .needs(&[Need::Hashing]);

#[derive(Serialize, ToSchema)]
pub struct NewRecoveryCodes {
    /// Ten codes of six letters and digits. Show the codes to the user now, because they cannot be
    /// read again.
    codes: Vec<String>,
}

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<CreatedJson<NewRecoveryCodes>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    access.check_just_proved()?;
    if row.user.totp.is_none() {
        return Err(KnownError::AuthenticatorAppRequired.into());
    }
    let codes = RecoveryCode::draw(&app.entropy);
    let hashed = app.hasher.hash_codes(&app.entropy, &codes).await;
    let owner = recovery::owner(&access.project.id, row.user.id);
    let set = RecoveryCodes::seal(&app.sealer, &app.entropy, &owner, &hashed, app.clock.now())?;
    change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, |user| {
        user.totp.as_mut().ok_or(KnownError::AuthenticatorAppRequired)?.recovery = Some(set.clone());
        Ok(ExtraWrites::default())
    })
    .await?;
    Ok(CreatedJson(NewRecoveryCodes { codes: codes.iter().map(|code| code.text().to_owned()).collect() }))
}
