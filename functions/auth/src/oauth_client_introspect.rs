//! `POST /api/v1/projects/{project_id}/oauth2/introspect`: tells a client whether one of its tokens
//! is valid, and to which user, session and scopes the token belongs (RFC 7662). A client can
//! introspect only tokens that were issued to it.

use api::http::TableAction::BatchGetItem;
use api::http::client::Caller;
use api::http::{BodyRule, Json, Route};
use api::product::client_input::ClientInput;
use api::product::input::ProjectPath;
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::limit::Limit;
use model::session::client_name::ClientName;
use model::session::token::client::issuer;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{SessionId, UserId};

use crate::client_tokens::lookup::ClientToken;
use crate::client_tokens::proof::{self, TokenOfClient};

pub const ROUTE: Route = Route::post("auth-oauth-client-introspect", "/api/v1/projects/{project_id}/oauth2/introspect")
    .summary("Reports whether a token of an OAuth client is valid")
    .limit(Limit::OauthClient)
    .body(BodyRule::OauthForm)
    .leaves_no_trail("it writes nothing")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::InvalidOauthClientIdOrSecret]);

/// The state of a token (RFC 7662 §2.2). For an invalid token or a token of another client, the
/// response contains only `active: false`.
#[wire::sparse]
#[derive(Serialize, ToSchema)]
pub struct Introspection {
    /// Whether the token is currently valid.
    active: bool,
    /// The scopes of the access token, separated by spaces. For a refresh token, these are the
    /// scopes of the session, other than those of resources.
    scope: Option<String>,
    /// The client.
    #[schema(value_type = Option<String>)]
    client_id: Option<ClientName>,
    /// The service for which an access token is valid.
    aud: Option<String>,
    /// The user.
    sub: Option<UserId>,
    /// The issuer.
    iss: Option<String>,
    /// The session.
    sid: Option<SessionId>,
    /// `access_token` or `refresh_token`.
    token_type: Option<&'static str>,
    /// The time when the token expires, in seconds since the Unix epoch. For a refresh token, this
    /// is the time when the session ends.
    exp: Option<i64>,
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    ClientInput { body, path }: ClientInput<TokenOfClient, ProjectPath>,
) -> Result<Json<Introspection>, Error> {
    let proved = proof::prove_client(&app, &caller, &path, &body.client_id, body.client_secret.as_deref()).await?;
    // A public client has no secret. Without this check, anyone who found a token could learn
    // whether it is valid.
    if !proved.client.is_confidential() {
        return Err(KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id) }.into());
    }
    let found = ClientToken::find(&app, &proved.project, &proved.client, &body.token).await?;
    Ok(Json(match found {
        None => Introspection {
            active: false,
            scope: None,
            client_id: None,
            aud: None,
            sub: None,
            iss: None,
            sid: None,
            token_type: None,
            exp: None,
        },
        Some(ClientToken { user, session, client, claims }) => Introspection {
            active: true,
            scope: Some(claims.as_ref().map_or_else(|| client.scopes.to_string(), |claims| claims.scope.clone())),
            client_id: Some(proved.client.name()),
            aud: claims.as_ref().map(|claims| claims.aud.clone()),
            sub: Some(user.id),
            iss: Some(issuer(&app.settings.api_url, &proved.project.id)),
            sid: Some(session.id),
            token_type: Some(if claims.is_some() { "access_token" } else { "refresh_token" }),
            exp: Some(claims.map_or(session.expires_at.as_second(), |claims| claims.exp)),
        },
    }))
}
