//! `POST /api/v1/projects/{project_id}/oauth2/token`: the token endpoint of the project as an
//! OpenID provider (RFC 6749 §3.2). One of the project's OAuth clients exchanges an authorization
//! code or a refresh token for an access token.
//!
//! With the project's id as the client id, the endpoint is equivalent to
//! `POST /api/v1/auth/oauth/token`, because the metadata of a project can name only one token
//! endpoint.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::client_input::ClientInput;
use api::product::input::ProjectPath;
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::context::Scope;
use flows::{App, limits};
use model::limit::Limit;
use model::project::redirect::RedirectUrl;
use model::session::client_name::ClientName;
use model::session::rotation::RefreshToken;
use store::record;
use utoipa::ToSchema;
use wire::id::ProjectId;
use wire::problem::Problems;

use crate::client_tokens::answer::{AnyTokens, ClientTokens};
use crate::client_tokens::code::Redemption;
use crate::client_tokens::proof::{self, ClientCredentials};
use crate::client_tokens::refresh;
use crate::oauth::client::client_project;
use crate::oauth::exchange::{TokenError, TokenGrant, TokenRequest, exchange};

pub const ROUTE: Route = Route::post("auth-oauth-client-token", "/api/v1/projects/{project_id}/oauth2/token")
    .summary("Exchanges a code or a refresh token of an OAuth client")
    .limit(Limit::Token)
    .body(BodyRule::OauthForm)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::AuthorizationRequestInvalid,
        ErrorCode::InvalidOauthClientIdOrSecret,
        ErrorCode::InvalidAuthorizationCode,
        ErrorCode::OauthGrantInvalid,
        ErrorCode::OauthGrantTypeNotAllowed,
        ErrorCode::OauthScopeNotGranted,
    ]);

/// Unknown fields are ignored (RFC 6749 §3.2).
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct OauthClientTokenRequest {
    /// `authorization_code` or `refresh_token`. If the client id is the project's id,
    /// `client_credentials` and `urn:ietf:params:oauth:grant-type:device_code` are also accepted.
    grant_type: String,
    /// The client's id. Absent if the request uses HTTP Basic.
    client_id: String,
    /// The client's secret. Absent for a public client, and if the request uses HTTP Basic.
    client_secret: Option<String>,
    /// Required with `authorization_code`.
    code: Option<String>,
    /// The redirect URI of the authorization request. Required with `authorization_code`.
    redirect_uri: Option<String>,
    /// The PKCE verifier (RFC 7636 §4.5). Required with `authorization_code`, unless the
    /// authorization request did not use PKCE.
    code_verifier: Option<String>,
    /// Required with `refresh_token`.
    refresh_token: Option<String>,
    /// With `refresh_token`, the scopes of the new access token, if the client wants fewer scopes
    /// than the user has granted.
    scope: Option<String>,
    /// Required with `urn:ietf:params:oauth:grant-type:device_code`.
    device_code: Option<String>,
    /// The resource for which the access token shall be valid (RFC 8707). It is required if the
    /// user has granted several resources.
    #[schema(example = "https://mcp.example.com/mcp")]
    resource: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    ClientInput { body, path }: ClientInput<OauthClientTokenRequest, ProjectPath>,
) -> Result<AnyTokens, TokenError> {
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id.clone()) };
    let project = ProjectId::parse(&path.project_id).map_err(|_| invalid())?;
    if client_project(&body.client_id).as_ref() == Some(&project) {
        return exchange(&app, &caller, body.of_project()?, ROUTE).await.map(AnyTokens::Project);
    }
    let client = ClientName::parse(&body.client_id).map_err(|_| invalid())?;
    let presented = ClientCredentials::new(client, body.client_secret.as_deref());
    match body.grant_type.parse() {
        Ok(TokenGrant::AuthorizationCode) => redeem(&app, &caller, &project, &presented, &body).await.map(AnyTokens::Client),
        Ok(TokenGrant::RefreshToken) => renew(&app, &caller, &project, &presented, &body).await.map(AnyTokens::Client),
        Ok(TokenGrant::ClientCredentials | TokenGrant::DeviceCode) => Err(KnownError::OauthGrantTypeNotAllowed.into()),
        Err(_) => Err(TokenError::unsupported_grant_type(ROUTE)),
    }
}

async fn redeem(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    presented: &ClientCredentials,
    body: &OauthClientTokenRequest,
) -> Result<ClientTokens, TokenError> {
    let redemption = Redemption {
        code: required("code", body.code.as_ref())?.into(),
        redirect_uri: body.redirect_uri.clone(),
        verifier: body.code_verifier.clone().map(Into::into),
        resource: body.resource.clone(),
    };
    let proved =
        proof::prove(app, project, presented, redemption.keys(project, presented.client.id()), (Limit::Token, &caller.place)).await?;
    let scope = Scope { app, project: &proved.project, place: &caller.place };
    record::on(&proved.project);
    Ok(Box::pin(redemption.redeem(scope, &proved.client, proved.items)).await?)
}

async fn renew(
    app: &App,
    caller: &Caller,
    project: &ProjectId,
    presented: &ClientCredentials,
    body: &OauthClientTokenRequest,
) -> Result<ClientTokens, TokenError> {
    let token = RefreshToken::parse(&required("refresh_token", body.refresh_token.as_ref())?);
    let keys = token.as_ref().map(|token| refresh::keys(project, presented.client.id(), token)).unwrap_or_default();
    let proved = proof::prove(app, project, presented, keys, (Limit::Token, &caller.place)).await?;
    let scope = Scope { app, project: &proved.project, place: &caller.place };
    record::on(&proved.project);
    let Some(token) = token else {
        limits::unknown_token(app, project, &caller.place).await?;
        return Err(KnownError::OauthGrantInvalid.into());
    };
    Ok(Box::pin(refresh::refresh(scope, &proved.client, proved.items, token, (body.scope.as_deref(), body.resource.as_deref()))).await?)
}

fn problem(name: &str, message: impl std::fmt::Display) -> KnownError {
    ROUTE.schema_error(&Problems::one(&format!("body.{name}"), message))
}

fn required(name: &str, value: Option<&String>) -> Result<String, Error> {
    Ok(value.cloned().ok_or_else(|| problem(name, "is required"))?)
}

impl OauthClientTokenRequest {
    /// The same request, with the project as the client.
    fn of_project(self) -> Result<TokenRequest, KnownError> {
        let redirect_uri = self.redirect_uri.map(|uri| RedirectUrl::parse(&uri)).transpose();
        Ok(TokenRequest {
            grant_type: self.grant_type,
            client_id: self.client_id,
            client_secret: self.client_secret,
            refresh_token: self.refresh_token,
            code: self.code,
            redirect_uri: redirect_uri.map_err(|error| problem("redirect_uri", error))?,
            code_verifier: self.code_verifier,
            device_code: self.device_code,
        })
    }
}
