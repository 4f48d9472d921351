//! `POST /api/v1/auth/passkey/initiate-passkey-registration`: returns the options for creating a
//! passkey in the signed-in user's browser.
//!
//! Only the signed-in user can register a passkey with the challenge.

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::webauthn::client_data::Ceremony;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, quota};
use model::passkey::challenge::Challenge;
use model::passkey::options;
use model::quota::Quota;
use utoipa::ToSchema;

use crate::passkeys::start::{StartedCeremony, check, start};
use crate::sign_in::authenticators::check_proof;

pub const ROUTE: Route = Route::post("auth-passkey-initiate-registration", "/api/v1/auth/passkey/initiate-passkey-registration")
    .summary("Returns the options for registering a passkey")
    .leaves_no_trail("a challenge does not change an account; the registration is recorded")
    .table(&[BatchGetItem, PutItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::PasskeyAuthenticationNotEnabled, ErrorCode::ReauthenticationRequired]);

/// The body can be omitted.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct StartRegistration {
    /// One of the project's `passkey_rp_ids`. The default is a placeholder, which the page must
    /// replace with its own host.
    rp_id: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<Option<StartRegistration>>,
) -> Result<Json<StartedCeremony>, Error> {
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    let rp_id = body.unwrap_or_default().rp_id;
    check(&access, rp_id.as_deref(), &ROUTE)?;
    quota::check(&access, Quota::Passkeys)?;
    check_proof(&access, user)?;
    let challenge = Challenge::for_registration(user, &app.entropy, app.clock.now());
    let options = options::for_registration(&access.project, user, &challenge, rp_id.as_deref());
    Ok(Json(start(&access, Ceremony::Registration, &challenge, options).await?))
}
