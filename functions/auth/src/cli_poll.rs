//! `POST /api/v1/auth/cli/poll`: returns whether the sign-in of a command-line tool was confirmed,
//! and fetches the tool's session. Only the tool can fetch its session, and only once.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{CreatedJson, Describe, Description, Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::context::Scope;
use model::code::Code;
use model::limit::Limit;
use model::session::cli::login_code;
use serde::Serialize;
use utoipa::ToSchema;

use crate::cli::fetch::{PollOutcome, poll};

pub const ROUTE: Route = Route::post("auth-cli-poll", "/api/v1/auth/cli/poll")
    .summary("Checks whether the sign-in of a command-line tool was confirmed, and fetches its session")
    .limit(Limit::Poll)
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::CliSignIn])
    .errors(&[ErrorCode::InvalidPollingCode]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PollCliSignIn {
    /// The polling code of `POST /api/v1/auth/cli`.
    polling_code: String,
}

/// The state of the sign-in. The HTTP status is 201 if the response contains a session, otherwise
/// 200.
#[derive(Serialize, ToSchema)]
pub struct PolledCliSignIn {
    status: CliStatus,
    /// Present only if the status is `success`.
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

/// The state of a sign-in.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CliStatus {
    /// The user has not confirmed or refused the sign-in yet.
    Waiting,
    /// This response contains the tool's session.
    Success,
    /// An earlier response contained the tool's session.
    Used,
    /// The sign-in has expired, the user refused it, or the confirmation is no longer valid.
    Expired,
}

impl IntoResponse for PolledCliSignIn {
    fn into_response(self) -> Response {
        if self.status == CliStatus::Success { CreatedJson(self).into_response() } else { Json(self).into_response() }
    }
}

impl Describe for PolledCliSignIn {
    fn describe(description: &mut Description) {
        CreatedJson::<Self>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<PollCliSignIn>,
) -> Result<PolledCliSignIn, Error> {
    let scope = Scope { app: &app, project: &access.project, place: &access.place };
    let polling_code = Code::parse(&body.polling_code).map_err(|_| KnownError::InvalidPollingCode)?;
    let sign_in = access.prefetched.cli_sign_in(&access.project.id, &login_code(&polling_code).digest()).await?;
    let (status, refresh_token) = match poll(scope, &polling_code, sign_in.as_ref()).await? {
        PollOutcome::Waiting => (CliStatus::Waiting, None),
        PollOutcome::Fetched(session, _) => (CliStatus::Success, Some(session.into_refresh_token())),
        PollOutcome::Used => (CliStatus::Used, None),
        PollOutcome::Expired | PollOutcome::Denied => (CliStatus::Expired, None),
    };
    Ok(PolledCliSignIn { status, refresh_token })
}
