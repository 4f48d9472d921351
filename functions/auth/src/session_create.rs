//! `POST /api/v1/auth/sessions`: creates a session for a user. With `is_impersonation`, a server
//! can use the session to act as the user. Requires server access.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::read;
use jiff::SignedDuration;
use model::session::{MAX_LIFE, Session, refresh_token};
use model::user::reference::UserRef;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use store::session;
use utoipa::ToSchema;
use wire::clock::after;
use wire::problem::Problems;

use crate::sign_in::tokens::access_token;

pub const ROUTE: Route = Route::post("auth-session-create", "/api/v1/auth/sessions")
    .summary("Creates a session for a user")
    .table(&[BatchGetItem, GetItem, PutItem])
    .reads(&[NamedItem::User])
    .errors(&[ErrorCode::UserIdDoesNotExist, ErrorCode::CannotGetOwnUserWithoutUser]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CreateSession {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    /// The lifetime of the session in milliseconds, from 1 to 31,708,800,000 (367 days). Default:
    /// 365 days.
    #[schema(minimum = 1, maximum = 31_708_800_000_i64)]
    expires_in_millis: Option<i64>,
    /// Whether the server uses the session to act as the user. Only administrators see such
    /// sessions in lists.
    is_impersonation: Option<bool>,
}

#[derive(Serialize, ToSchema)]
pub struct CreatedSession {
    refresh_token: String,
    access_token: String,
}

const DEFAULT_LIFE: SignedDuration = SignedDuration::from_hours(365 * 24);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<CreateSession>,
) -> Result<Json<CreatedSession>, Error> {
    let life = body.expires_in_millis.map_or(DEFAULT_LIFE, SignedDuration::from_millis);
    if !life.is_positive() || life > MAX_LIFE {
        return Err(ROUTE
            .schema_error(&Problems::one("body.expires_in_millis", "must be from 1 to 31,708,800,000 milliseconds (367 days)"))
            .into());
    }
    let project = &access.project;
    let id = access.user_id(body.user_id)?;
    let row = read(&access, id).await?.ok_or_else(|| KnownError::UserIdDoesNotExist { user_id: id.to_string() })?;
    let now = app.clock.now();
    let session = Session {
        expires_at: after(now, life),
        is_impersonation: body.is_impersonation.unwrap_or(false),
        ..Session::start(&row.user, &project.config.sessions, None, &app.entropy, now)
    };
    let refresh_token = refresh_token::draw(&app.entropy, &session);
    app.store.write(session::create(&project.id, &session, &refresh_token)?).await?;
    Ok(Json(CreatedSession {
        access_token: access_token(&app, project, &row.user, &session).await?,
        refresh_token: refresh_token.expose_secret().to_owned(),
    }))
}
