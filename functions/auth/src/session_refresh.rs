//! `POST /api/v1/auth/sessions/current/refresh`: exchanges the refresh token for a new access
//! token.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::header_family::header;
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, limits};
use http::HeaderMap;
use model::limit::Limit;
use secrecy::SecretString;
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::sign_in::tokens::refresh;

pub const ROUTE: Route = Route::post("auth-session-refresh", "/api/v1/auth/sessions/current/refresh")
    .summary("Exchanges the refresh token in the header for a new access token")
    .limit(Limit::Token)
    .admits(Admission::Restricted)
    .leaves_no_trail("only times of last use, counts of active users and noted teams change")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::RefreshTokenHeader])
    .errors(&[ErrorCode::RefreshTokenNotFoundOrExpired]);

#[derive(Serialize, ToSchema)]
#[schema(as = Refreshed)]
pub struct RefreshedSession {
    /// A JWT that is signed with ES256 or, if the project has chosen it, with RS256.
    access_token: String,
}

pub async fn handle(State(app): State<App>, headers: HeaderMap, access: Access<Client>, _: Input) -> Result<Json<RefreshedSession>, Error> {
    let Some(token) = header(&headers, "refresh-token")? else {
        return Err(ROUTE.schema_error(&Problems::one("headers.x-service-refresh-token", "is required")).into());
    };
    let (project, token) = (&access.project.id, SecretString::from(token.to_owned()));
    let Some(claim) = access.prefetched.token_claim(project, &token).await? else {
        limits::unknown_token(&app, project, &access.place).await?;
        return Err(KnownError::RefreshTokenNotFoundOrExpired.into());
    };
    let access_token = Box::pin(refresh(&app, &access.project, &token, claim, &access.place)).await?;
    Ok(Json(RefreshedSession { access_token }))
}
