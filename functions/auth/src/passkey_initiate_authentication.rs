//! `POST /api/v1/auth/passkey/initiate-passkey-authentication`: returns the options for using a
//! passkey in a browser. The options do not name a user, so they also work for a form's autofill
//! and before the user has typed an email address.

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::{Admission, Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::webauthn::client_data::Ceremony;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use model::code::Code;
use model::passkey::challenge::Challenge;
use model::passkey::options;
use serde::Serialize;
use utoipa::ToSchema;

use crate::passkeys::start::{StartedCeremony, check, start};

pub const ROUTE: Route = Route::post("auth-passkey-initiate-authentication", "/api/v1/auth/passkey/initiate-passkey-authentication")
    .summary("Returns the options for signing in with a passkey")
    .admits(Admission::Restricted)
    .leaves_no_trail("a challenge does not change an account; the sign-in is recorded")
    .table(&[BatchGetItem, PutItem])
    .errors(&[ErrorCode::PasskeyAuthenticationNotEnabled]);

/// The body can be omitted.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct StartAuthentication {
    /// One of the project's `passkey_rp_ids`. The default is a placeholder, which the page must
    /// replace with its own host.
    rp_id: Option<String>,
    /// `conditional` for the autofill of a form, which makes the challenge valid for ten minutes
    /// instead of 65 seconds.
    mediation: Option<Mediation>,
    /// The `attempt_code` of a sign-in that is waiting for its second factor. The challenge can
    /// then be used only to complete this sign-in.
    #[schema(value_type = Option<String>)]
    attempt_code: Option<Code>,
}

/// How the browser offers passkeys to the user (`CredentialMediationRequirement`).
#[derive(Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum Mediation {
    Optional,
    Conditional,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<Option<StartAuthentication>>,
) -> Result<Json<StartedCeremony>, Error> {
    let StartAuthentication { rp_id, mediation, attempt_code } = body.unwrap_or_default();
    check(&access, rp_id.as_deref(), &ROUTE)?;
    let is_autofill = mediation == Some(Mediation::Conditional);
    let challenge = Challenge::for_authentication(is_autofill, &app.entropy, app.clock.now()).for_attempt(attempt_code.as_ref());
    let options = options::for_authentication(&access.project, &challenge, rp_id.as_deref());
    Ok(Json(start(&access, Ceremony::Authentication, &challenge, options).await?))
}
