//! `GET /api/v1/auth/mfa/devices`: lists the signed-in user's remembered devices, on which no
//! second factor is currently required, newest first.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::page::List;
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::user::device::DeviceView;

pub const ROUTE: Route = Route::get("auth-mfa-device-list", "/api/v1/auth/mfa/devices")
    .summary("Lists the remembered devices of the signed-in user")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::UserAuthenticationRequired]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<List<DeviceView>>, Error> {
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    let (settings, now) = (&access.project.config.second_factor, app.clock.now());
    let devices = app.store.devices(&access.project.id, user.id).await?.into_iter();
    let remembered = devices.filter(|device| device.is_remembered(user, settings, now));
    Ok(Json(List::whole(remembered.map(|device| DeviceView::of(device, access.device.as_ref())).collect())))
}
