//! `POST /api/v1/auth/cli/complete`: checks, confirms or refuses the sign-in of a command-line
//! tool, or takes over the tool's anonymous user. The requests come from the page that opens when
//! the user follows the tool's link.
//!
//! The link may come from a stranger whose tool is waiting. The page therefore first uses the mode
//! `check` to show where and when the tool started the sign-in. The tool gets a session only after
//! `complete`, which the page sends when the user clicks. In the mode `claim-anon-session`, the
//! browser takes over the tool's anonymous user. The anonymous user's other sessions end, and all
//! of the user's credentials are removed. Without this, a stranger who sent the link could still
//! sign in to the account after the user has signed up in the browser.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Describe, Description, Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use crypto::digest::Digest;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::code::Code;
use model::limit::Limit;
use model::place::Place;
use model::session::cli::{CliSignIn, Decision, State as Stage, UserCode};
use model::trail::Event;
use serde::Serialize;
use store::user::account::Outcome;
use store::{Label, cli_sign_in, session, user};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::cli::session::LiveSession;
use crate::sign_in::tokens::{NewSession, SignInTokens};

pub const ROUTE: Route = Route::post("auth-cli-complete", "/api/v1/auth/cli/complete")
    .summary("Checks, confirms or refuses the sign-in of a command-line tool")
    .limit(Limit::Code)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::CliSignIn, NamedItem::RefreshToken])
    .errors(&[
        ErrorCode::InvalidLoginCode,
        ErrorCode::InvalidRefreshToken,
        ErrorCode::NoAnonymousSession,
        ErrorCode::CliSessionNotAnonymous,
        ErrorCode::RestrictedUserNotAllowed,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CompleteCliSignIn {
    /// The login code of `POST /api/v1/auth/cli`, or the user code of a device, as typed by the
    /// user.
    login_code: String,
    /// Default: `complete`.
    #[deserr(default)]
    #[schema(required = false)]
    mode: CliMode,
    /// The refresh token of the user who confirms, required with `complete`.
    refresh_token: Option<String>,
}

/// What to do with the sign-in.
#[derive(Clone, Copy, Default, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CliMode {
    /// Returns where and when the tool started the sign-in. Changes nothing.
    #[deserr(rename = "check")]
    Check,
    /// Returns a session of the tool's anonymous user. Ends the anonymous user's other sessions,
    /// and removes the user's passkeys, contact channels, API keys and other credentials.
    #[deserr(rename = "claim-anon-session")]
    ClaimAnonSession,
    /// Confirms the sign-in, so that the tool can fetch a session.
    #[default]
    #[deserr(rename = "complete")]
    Complete,
    /// Refuses the sign-in.
    #[deserr(rename = "deny")]
    Deny,
}

/// The response depends on the mode.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum CompletedCliSignIn {
    Checked(CheckedCliSignIn),
    Claimed(SignInTokens),
    Done(Success),
}

#[derive(Serialize, ToSchema)]
pub struct CheckedCliSignIn {
    /// Whether the tool has an anonymous user whom a browser can take over.
    cli_session_state: CliSessionState,
    /// The time when the tool started the sign-in.
    created_at_millis: i64,
    /// When the sign-in expires.
    expires_at_millis: i64,
    /// Where the tool runs.
    place: Place,
}

/// Whether an anonymous user of the tool is attached to the sign-in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CliSessionState {
    Anonymous,
    None,
}

impl IntoResponse for CompletedCliSignIn {
    fn into_response(self) -> Response {
        Json(self).into_response()
    }
}

impl Describe for CompletedCliSignIn {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<CompleteCliSignIn>,
) -> Result<CompletedCliSignIn, Error> {
    let code = login_digest(&access, &body.login_code).await?.ok_or(KnownError::InvalidLoginCode)?;
    let sign_in = access.prefetched.cli_sign_in(&access.project.id, &code).await?;
    let sign_in = sign_in.filter(|sign_in| sign_in.state(app.clock.now()) == Stage::Waiting).ok_or(KnownError::InvalidLoginCode)?;
    match body.mode {
        CliMode::Check => check(&access, &sign_in).await.map(CompletedCliSignIn::Checked),
        CliMode::ClaimAnonSession => claim(&access, &code, &sign_in).await.map(CompletedCliSignIn::Claimed),
        CliMode::Complete => {
            let missing = || ROUTE.schema_error(&Problems::one("body.refresh_token", "is required for the mode complete"));
            let token = body.refresh_token.ok_or_else(missing)?.into();
            let signed = LiveSession::find_by_token(&access, &token).await?;
            confirm(&access, &code, &signed).await.map(CompletedCliSignIn::Done)
        }
        CliMode::Deny => deny(&access, &code).await.map(CompletedCliSignIn::Done),
    }
}

/// Returns the digest of the login code. `text` is a login code or a user code. `None` if `text` is
/// neither a login code nor a known user code.
async fn login_digest(access: &Access<Client>, text: &str) -> Result<Option<Digest>, Error> {
    match UserCode::parse(text) {
        Some(user_code) => Ok(access.app.store.login_of_user_code(&access.project.id, &user_code).await?),
        None => Ok(Code::parse(text).ok().map(|code| code.digest())),
    }
}

async fn check(access: &Access<Client>, sign_in: &CliSignIn) -> Result<CheckedCliSignIn, Error> {
    let attached = match sign_in.anonymous {
        Some(attached) => LiveSession::find(&access.app, &access.project, attached).await?,
        None => None,
    };
    let is_anonymous = attached.is_some_and(|signed| signed.row.user.is_anonymous);
    Ok(CheckedCliSignIn {
        cli_session_state: if is_anonymous { CliSessionState::Anonymous } else { CliSessionState::None },
        created_at_millis: sign_in.created_at.as_millisecond(),
        expires_at_millis: sign_in.expires_at.as_millisecond(),
        place: sign_in.place.clone(),
    })
}

async fn claim(access: &Access<Client>, code: &Digest, sign_in: &CliSignIn) -> Result<SignInTokens, Error> {
    let (app, project) = (&access.app, &access.project);
    let attached = sign_in.anonymous.ok_or(KnownError::NoAnonymousSession)?;
    let signed = LiveSession::find(app, project, attached).await?.ok_or(KnownError::NoAnonymousSession)?;
    if !signed.may_be_attached() {
        return Err(KnownError::CliSessionNotAnonymous.into());
    }
    let mut user = signed.row.user.clone();
    user.remove_credentials();
    let session = NewSession::start(app, project, &user, &access.place, Vec::new());
    let mut writes = vec![
        cli_sign_in::detach(&project.id, code, app.clock.now()).tells([Event::SessionsEnded]),
        session::lives(project, user.id, attached.session_id, app.clock.now()),
    ];
    writes.extend(session.writes(project)?);
    match app.store.change_account(&project.id, &signed.row, &user, writes).await {
        Ok(Outcome::Done) => Ok(session.signed_in(app, project, &user).await?),
        Ok(_) => Err(KnownError::ServiceUnavailable.into()),
        Err(store::Error::Conflict(_)) => Err(KnownError::NoAnonymousSession.into()),
        Err(error) => Err(error.into()),
    }
}

async fn confirm(access: &Access<Client>, code: &Digest, signed: &LiveSession) -> Result<Success, Error> {
    let (app, project, by) = (&access.app, &access.project, signed.reference());
    signed.check_unrestricted(project)?;
    let now = app.clock.now();
    let writes = [
        cli_sign_in::decide(&project.id, code, Decision::Confirmed(by), now)?.about(by.user_id),
        session::lives(project, by.user_id, by.session_id, now),
        user::at_epoch(&project.id, by.user_id, by.epoch),
    ];
    match app.store.transact(writes).await {
        Ok(()) => Ok(SUCCESS),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Err(KnownError::InvalidLoginCode.into()),
        Err(store::Error::Conflict(_)) => Err(KnownError::InvalidRefreshToken.into()),
        Err(error) => Err(error.into()),
    }
}

async fn deny(access: &Access<Client>, code: &Digest) -> Result<Success, Error> {
    let decide = cli_sign_in::decide(&access.project.id, code, Decision::Denied, access.app.clock.now())?;
    match access.app.store.write(decide).await {
        Ok(()) => Ok(SUCCESS),
        Err(store::Error::Conflict(_)) => Err(KnownError::InvalidLoginCode.into()),
        Err(error) => Err(error.into()),
    }
}
