//! `GET /api/v1/auth/mfa/authenticators`: lists the authenticator apps of the signed-in user.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::page::List;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError};
use model::user::totp::AuthenticatorView;

pub const ROUTE: Route = Route::get("auth-mfa-authenticator-list", "/api/v1/auth/mfa/authenticators")
    .summary("Lists the authenticator apps of the signed-in user")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::UserAuthenticationRequired]);

pub async fn handle(access: Access<Client>, _: Input) -> Result<Json<List<AuthenticatorView>>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    Ok(Json(List::whole(current.row.user.apps().map(AuthenticatorView::from).collect())))
}
