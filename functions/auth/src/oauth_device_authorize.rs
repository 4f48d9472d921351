//! `POST /api/v1/auth/oauth/device_authorization`: starts the sign-in of a device (RFC 8628 §3.1).
//!
//! The operation works like the sign-in of a command-line tool (`POST /api/v1/auth/cli`), but uses
//! the field names of the RFC. The device code is the polling code. The page where the user
//! confirms or refuses sends the user code, or the login code from `verification_uri_complete`, to
//! `POST /api/v1/auth/cli/complete`.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Json, Route};
use api::product::access::NO_KEY;
use api::product::client_input::ClientInput;
use api::product::{Access, Client};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::context::Scope;
use flows::limits::{self, RequestCount};
use model::code::Code;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;
use model::project::{ApiKey, Project};
use model::session::cli::{CliSignIn, DEFAULT_LIFE, UserCode, login_code};
use secrecy::SecretString;
use serde::Serialize;
use store::keys::{api_key_key, project_key};
use store::project::ProjectRow;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::oauth::client::{client_project, prove_client};
use crate::oauth::device::INTERVAL_SECONDS;

pub const ROUTE: Route = Route::post("auth-oauth-device-authorize", "/api/v1/auth/oauth/device_authorization")
    .summary("Starts the sign-in of a device, which a user confirms elsewhere")
    .limit(Limit::Code)
    .body(BodyRule::OauthForm)
    .without_secret()
    .leaves_no_trail("nobody is signed in yet; the sign-in is recorded when the device code is exchanged")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[
        ErrorCode::InvalidOauthClientIdOrSecret,
        ErrorCode::PublishableClientKeyRequiredForProject,
        ErrorCode::RedirectUrlNotWhitelisted,
    ]);

/// Unknown fields are ignored, as at the token endpoint.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct DeviceRequest {
    /// The project's id.
    client_id: String,
    /// A publishable client key, as at the token endpoint.
    client_secret: Option<String>,
    /// The page where the user confirms or refuses, on a trusted domain. The default is the page
    /// `cli-auth-confirm` on the first trusted domain without a wildcard.
    #[schema(value_type = Option<String>, format = Uri)]
    verification_uri: Option<RedirectUrl>,
}

#[derive(Serialize, ToSchema)]
pub struct DeviceResponse {
    /// The secret of the device. The device sends it to the token endpoint.
    #[schema(min_length = 45, max_length = 45)]
    device_code: String,
    /// The code that the user types on the page.
    #[schema(example = "WDJB-MJHT")]
    user_code: String,
    /// The page where the user types the user code.
    verification_uri: String,
    /// The URL of `verification_uri` with the parameters `login_code` and `user_code`, for a link
    /// or a QR code.
    verification_uri_complete: String,
    /// The lifetime of the codes in seconds.
    expires_in: i64,
    /// The number of seconds to wait between polls.
    interval: u32,
}

/// The page where the user confirms or refuses.
fn page(app: &App, project: &Project, wanted: Option<RedirectUrl>) -> Result<RedirectUrl, KnownError> {
    let own = &app.settings.own_pages;
    match wanted {
        Some(url) => project.redirects(own).check(&url).map(|()| url).map_err(Into::into),
        None => project.handler_page("cli-auth-confirm", own).ok_or_else(|| {
            ROUTE.schema_error(&Problems::one("body.verification_uri", "is required: the project has no trusted domain without a wildcard"))
        }),
    }
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    _: Option<Access<Client>>,
    ClientInput { body, .. }: ClientInput<DeviceRequest>,
) -> Result<Json<DeviceResponse>, Error> {
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id.clone()) };
    let id = client_project(&body.client_id).ok_or_else(invalid)?;
    let secret = body.client_secret.as_deref().filter(|secret| !secret.is_empty() && *secret != NO_KEY);
    let secret = secret.map(|secret| SecretString::from(secret.to_owned()));
    let (project_key, key_key) = (project_key(&id), secret.as_ref().map(|secret| api_key_key(&id, secret)));
    let counting = RequestCount::by_place(&app, &id, Limit::Code, &caller.place);
    let keys = counting.keys().chain([project_key.clone()]).chain(key_key.clone());
    let (early, mut items) = futures_util::try_join!(counting.early(), app.store.get_many(keys))?;
    let Some(project) = items.take(&project_key).map(ProjectRow::of).transpose()?.map(|row| row.project) else {
        limits::unproved(&app, None, &caller.place).await?;
        return Err(invalid().into());
    };
    counting.settle(early, &items).await?;
    let key: Option<ApiKey> = key_key.map(|key| items.entity(&key)).transpose()?.flatten();
    prove_client(Scope { app: &app, project: &project, place: &caller.place }, secret.is_some(), key.as_ref(), invalid).await?;
    let page = page(&app, &project, body.verification_uri)?;

    let sign_in = CliSignIn::new(None, caller.place, None, app.clock.now());
    let (device_code, user_code) = (Code::new(app.entropy.code()), UserCode::new(app.entropy.typed_code()));
    let login_code = login_code(&device_code);
    // The page shows the user code, so that the user can compare it with the code on the device
    // (RFC 8628 §3.3.1).
    let complete = RedirectUrl::from(page.with_query("login_code", login_code.text()));
    app.store.begin_device_sign_in(&project.id, &login_code.digest(), &user_code, &sign_in).await?;
    Ok(Json(DeviceResponse {
        device_code: device_code.text().to_owned(),
        user_code: user_code.shown(),
        verification_uri_complete: complete.with_query("user_code", &user_code.shown()).into(),
        verification_uri: page.url().to_string(),
        expires_in: DEFAULT_LIFE.as_secs(),
        interval: INTERVAL_SECONDS,
    }))
}
