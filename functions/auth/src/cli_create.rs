//! `POST /api/v1/auth/cli`: starts the sign-in of a command-line tool. The tool shows a link with
//! the login code to its user, and polls with the polling code.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::OrEmpty;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use jiff::{SignedDuration, Timestamp};
use model::code::Code;
use model::limit::Limit;
use model::session::cli::{CliSignIn, login_code};
use secrecy::SecretString;
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::cli::session::LiveSession;

pub const ROUTE: Route = Route::post("auth-cli-create", "/api/v1/auth/cli")
    .summary("Starts the sign-in of a command-line tool")
    .limit(Limit::Code)
    .leaves_no_trail("nobody is signed in yet; the sign-in is recorded when the tool fetches its session")
    .table(&[BatchGetItem, GetItem, PutItem])
    .reads(&[NamedItem::RefreshToken])
    .errors(&[ErrorCode::InvalidRefreshToken, ErrorCode::CliSessionNotAnonymous]);

#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct StartCliSignIn {
    /// The lifetime of the sign-in in milliseconds. The default and the maximum are 15 minutes, and
    /// the minimum is 30 seconds. Positive values outside this range are raised to the minimum or
    /// lowered to the maximum.
    #[schema(minimum = 1)]
    expires_in_millis: Option<i64>,
    /// The refresh token of an anonymous user whom the tool has created. A browser in which nobody
    /// is signed in can take over the anonymous user and then sign up.
    anon_refresh_token: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct StartedCliSignIn {
    /// The tool's secret, which the tool sends to `POST /api/v1/auth/cli/poll`.
    #[schema(min_length = 45, max_length = 45)]
    polling_code: String,
    /// The code that the link for the user contains.
    #[schema(min_length = 45, max_length = 45)]
    login_code: String,
    /// The time when the sign-in expires (RFC 3339).
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body: OrEmpty(body), .. }: Input<OrEmpty<StartCliSignIn>>,
) -> Result<Json<StartedCliSignIn>, Error> {
    if body.expires_in_millis.is_some_and(|millis| millis < 1) {
        return Err(ROUTE.schema_error(&Problems::one("body.expires_in_millis", "must be at least 1")).into());
    }
    let (project, place) = (&access.project, &access.place);
    let anonymous = match body.anon_refresh_token {
        Some(token) => {
            let signed = LiveSession::find_by_token(&access, &SecretString::from(token)).await?;
            if !signed.may_be_attached() {
                return Err(KnownError::CliSessionNotAnonymous.into());
            }
            Some(signed.reference())
        }
        None => None,
    };
    let life = body.expires_in_millis.map(SignedDuration::from_millis);
    let sign_in = CliSignIn::new(life, place.clone(), anonymous, app.clock.now());
    let polling_code = Code::new(app.entropy.code());
    let login_code = login_code(&polling_code);
    app.store.begin_cli_sign_in(&project.id, &login_code.digest(), &sign_in).await?;
    Ok(Json(StartedCliSignIn {
        polling_code: polling_code.text().to_owned(),
        login_code: login_code.text().to_owned(),
        expires_at: sign_in.expires_at,
    }))
}
