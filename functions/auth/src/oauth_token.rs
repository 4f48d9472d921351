//! `POST /api/v1/auth/oauth/token`: the token endpoint (RFC 6749 §3.2), for the grant `refresh_token`, which the SDKs use.
//!
//! Client id and secret are in the body, as JSON or as a form. Headers of access are not needed; those that are there must be right.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use http::{HeaderMap, HeaderValue, header};
use secrecy::SecretString;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, UpdateItem};
use shared::http::client::Caller;
use shared::http::{Describe, Description, Json, Route};
use shared::model::id::ProjectId;
use shared::model::limit::{Limit, Rule};
use shared::model::project::{ApiKey, KeyKind, Project};
use shared::product_api::access::NO_KEY;
use shared::product_api::{Access, Client, Error, Input, KnownError, limits};
use shared::store::projects::{ProjectRow, api_key_key, project_key};
use shared::store::sessions::{TokenClaim, token_key};
use utoipa::ToSchema;

use crate::tokens::refresh;

pub const ROUTE: Route = Route::post("auth-oauth-token", "/api/v1/auth/oauth/token")
    .summary("Exchanges a refresh token for an access token")
    .limit(Limit::Token)
    .table(&[BatchGetItem, UpdateItem])
    .errors(&["INVALID_OAUTH_CLIENT_ID_OR_SECRET", "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT", "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED"]);

/// Unknown fields are ignored (RFC 6749 §3.2).
#[derive(Deserr, ToSchema)]
pub struct TokenRequest {
    #[deserr(rename = "grant_type")]
    #[schema(rename = "grant_type")]
    _grant_type: TokenGrant,
    /// The project's id.
    client_id: String,
    /// A publishable client key; absent, or `__stack_public_client__`, when the project requires none.
    #[deserr(default)]
    client_secret: Option<String>,
    refresh_token: String,
}

#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenGrant {
    #[deserr(rename = "refresh_token")]
    RefreshToken,
}

/// An access token (RFC 6749 §5.1).
#[derive(Serialize, ToSchema)]
pub struct Tokens {
    access_token: String,
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// Seconds; not the life of the token, which says its own.
    expires_in: u32,
    #[schema(example = "legacy")]
    scope: &'static str,
    #[serde(rename = "afterCallbackRedirectUrl")]
    after_callback_redirect_url_camel: Option<String>,
    after_callback_redirect_url: Option<String>,
}

/// What clients of the peer are told; they look into the token for its true life.
const EXPIRES_IN: u32 = 3599;

impl IntoResponse for Tokens {
    fn into_response(self) -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::PRAGMA, HeaderValue::from_static("no-cache"));
        (headers, Json(self)).into_response()
    }
}

impl Describe for Tokens {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    _: Option<Access<Client>>,
    Input { body, .. }: Input<TokenRequest>,
) -> Result<Tokens, Error> {
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id.clone()) };
    let project_id = client_project(&body.client_id).ok_or_else(invalid)?;
    let token = SecretString::from(body.refresh_token.clone());
    let secret = body
        .client_secret
        .as_deref()
        .filter(|secret| !secret.is_empty() && *secret != NO_KEY)
        .map(|secret| SecretString::from(secret.to_owned()));
    let (project_key, token_key) = (project_key(&project_id), token_key(&project_id, &token));
    let key_key = secret.as_ref().map(|secret| api_key_key(&project_id, secret));
    let keys = [Some(&project_key), Some(&token_key), key_key.as_ref()];
    let count = limits::by_secret(&app, &project_id, Rule::Token, &token);
    let ((), mut items) = futures_util::try_join!(count, app.store.get_many(keys.into_iter().flatten().cloned()))?;

    let project = items.take(&project_key).map(ProjectRow::of).transpose()?.ok_or_else(invalid)?.project;
    let key = key_key.map(|key| items.entity::<ApiKey>(&key)).transpose()?.flatten();
    prove_client(&app, &project, secret.is_some(), key.as_ref()).map_err(|error| error.unwrap_or_else(invalid))?;
    let claim: TokenClaim = items.entity(&token_key)?.ok_or(KnownError::RefreshTokenNotFoundOrExpired)?;
    let access_token = refresh(&app, &project, claim, &caller.place).await?;
    Ok(Tokens {
        access_token,
        token_type: "Bearer",
        expires_in: EXPIRES_IN,
        scope: "legacy",
        after_callback_redirect_url_camel: None,
        after_callback_redirect_url: None,
    })
}

/// The project of a client id: its id, optionally with the one branch there is.
pub(crate) fn client_project(client_id: &str) -> Option<ProjectId> {
    let id = client_id.strip_suffix("#main").unwrap_or(client_id);
    ProjectId::parse(id).ok()
}

/// Checks the client's key: `Err(None)` for one that is wrong.
pub(crate) fn prove_client(app: &App, project: &Project, has_secret: bool, key: Option<&ApiKey>) -> Result<(), Option<KnownError>> {
    let opens = key.is_some_and(|key| key.opens(KeyKind::PublishableClient, app.clock.now()));
    match (has_secret, opens) {
        (true, true) => Ok(()),
        (true, false) => Err(None),
        (false, _) if project.config.require_publishable_client_key => {
            Err(Some(KnownError::PublishableClientKeyRequiredForProject { project_id: Some(project.id.to_string()) }))
        }
        (false, _) => Ok(()),
    }
}
