//! `DELETE /api/v1/auth/mfa/devices/{device_id}`: forgets a device. The next sign-in on the device
//! requires the second factor again. The existing sessions of the device do not end.

use api::http::TableAction::{BatchGetItem, DeleteItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use utoipa::ToSchema;
use wire::id::DeviceId;

pub const ROUTE: Route = Route::delete("auth-mfa-device-delete", "/api/v1/auth/mfa/devices/{device_id}")
    .summary("Forgets a remembered device")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::DeviceNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DevicePath {
    /// The id of one of the signed-in user's remembered devices.
    device_id: DeviceId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DevicePath>,
) -> Result<Json<Success>, Error> {
    let user = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user.id;
    if app.store.forget_device(&access.project.id, user, path.device_id).await? {
        Ok(Json(SUCCESS))
    } else {
        Err(KnownError::DeviceNotFound.into())
    }
}
