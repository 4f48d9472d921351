//! `GET /api/v1/auth/mfa/recovery-codes`: returns the number of recovery codes that the signed-in
//! user has left. The codes themselves are returned only when they are created.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError};
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("auth-mfa-recovery-codes-read", "/api/v1/auth/mfa/recovery-codes")
    .summary("Counts the recovery codes that the signed-in user has left")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::UserAuthenticationRequired]);

#[derive(Serialize, ToSchema)]
pub struct RecoveryCodesLeft {
    /// The number of unused codes, or 0 if there is no set.
    remaining: usize,
    /// The time when the set was created, in milliseconds since the epoch. `null` if there is no
    /// set.
    created_at_millis: Option<i64>,
}

pub async fn handle(access: Access<Client>, _: Input) -> Result<Json<RecoveryCodesLeft>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    let codes = current.row.user.recovery_codes();
    Ok(Json(RecoveryCodesLeft {
        remaining: codes.map_or(0, |codes| codes.left),
        created_at_millis: codes.map(|codes| codes.created_at.as_millisecond()),
    }))
}
