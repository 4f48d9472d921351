//! `POST /api/v1/auth/oauth/token`: the token endpoint (RFC 6749 §3.2). Exchanges an authorization
//! code, a refresh token, a device code (RFC 8628) or a server key for an access token.
//!
//! Client id and secret are in the body, as JSON or as a form, or in the header with HTTP Basic.
//! Access headers are optional, but must be valid if sent. Errors have the form of RFC 6749 §5.2,
//! plus Gatelet's `code` and `details`. A layer writes them, because some errors occur before the
//! handler runs.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, Route};
use api::product::access::NO_KEY;
use api::product::client_input::ClientInput;
use api::product::oauth_error::OauthErrorCode;
use api::product::{Access, Client};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::context::Scope;
use flows::proofs::Claim;
use flows::{App, limits};
use model::limit::{Limit, Rule};
use model::project::Project;
use model::project::redirect::RedirectUrl;
use model::trail::{self, Actor};
use model::user::device::DeviceToken;
use secrecy::SecretString;
use serde::Serialize;
use store::keys::user_key;
use store::provider::authorization::{AuthorizationCode, code_key};
use store::session::token_key;
use store::user::UserRow;
use store::{Items, Key, record};
use strum::{EnumString, VariantNames};
use utoipa::ToSchema;
use wire::id::ProjectId;
use wire::problem::Problems;

use crate::oauth::client::{client_project, prove_client};
use crate::oauth::tokens::Tokens;
use crate::oauth::{code, device, machine, redemption};
use crate::sign_in::remembered;
use crate::sign_in::tokens::refresh;

pub const ROUTE: Route = Route::post("auth-oauth-token", "/api/v1/auth/oauth/token")
    .summary("Exchanges a code, a refresh token or a server key for an access token")
    .limit(Limit::Token)
    .body(BodyRule::OauthForm)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::InvalidOauthClientIdOrSecret,
        ErrorCode::PublishableClientKeyRequiredForProject,
        ErrorCode::RefreshTokenNotFoundOrExpired,
        ErrorCode::InvalidAuthorizationCode,
        ErrorCode::InvalidPollingCode,
        ErrorCode::AuthorizationPending,
        ErrorCode::SlowDown,
        ErrorCode::DeviceCodeExpired,
        ErrorCode::DeviceDenied,
        ErrorCode::MultiFactorAuthenticationRequired,
        ErrorCode::RestrictedUserNotAllowed,
        ErrorCode::OauthConnectionAlreadyConnectedToAnotherUser,
        ErrorCode::ContactChannelAlreadyUsedForAuthBySomeoneElse,
    ]);

/// Unknown fields are ignored (RFC 6749 §3.2).
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct TokenRequest {
    #[schema(value_type = TokenGrant)]
    grant_type: String,
    /// The project's id. Absent if it is sent with HTTP Basic.
    client_id: String,
    /// A publishable client key; with `client_credentials`, a server key, which is required. If the
    /// project does not require a client key, it can be omitted or be `__stack_public_client__`.
    client_secret: Option<String>,
    /// Required with `refresh_token`.
    refresh_token: Option<String>,
    /// Required with `authorization_code`.
    code: Option<String>,
    /// Required with `authorization_code`: the redirect URI from the start of the flow.
    redirect_uri: Option<RedirectUrl>,
    /// Required with `authorization_code`: the PKCE verifier (RFC 7636 §4.5).
    code_verifier: Option<String>,
    /// Required with `urn:ietf:params:oauth:grant-type:device_code`.
    device_code: Option<String>,
}

#[derive(Clone, Copy, Serialize, ToSchema, EnumString, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TokenGrant {
    AuthorizationCode,
    RefreshToken,
    /// A server key as the secret; there is no user.
    ClientCredentials,
    /// RFC 8628 §3.4.
    #[serde(rename = "urn:ietf:params:oauth:grant-type:device_code")]
    #[strum(serialize = "urn:ietf:params:oauth:grant-type:device_code")]
    DeviceCode,
}

/// Why no token was issued.
pub enum TokenError {
    Refused(Error),
    /// The grant type is unknown. Elsewhere this would be a schema error; OAuth has its own error
    /// for it.
    UnsupportedGrantType,
}

impl<E: Into<Error>> From<E> for TokenError {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(error) => error.into_response(),
            Self::UnsupportedGrantType => {
                let accepted = format!("must be one of {}", TokenGrant::VARIANTS.join(", "));
                let error = ROUTE.schema_error(&Problems::one("body.grant_type", accepted));
                let mut response = error.into_response();
                response.extensions_mut().insert(OauthErrorCode::UnsupportedGrantType);
                response
            }
        }
    }
}

/// The parsed grant of a request.
enum Grant {
    Code(Box<redemption::Redemption>),
    Refresh(SecretString),
    Device(device::Poll),
}

impl TokenRequest {
    /// The grant of a user; `None` for a machine, which has only its key.
    fn grant(&self) -> Result<Option<Grant>, TokenError> {
        let grant_type = self.grant_type.parse().map_err(|_| TokenError::UnsupportedGrantType)?;
        let missing = |name: &str| ROUTE.schema_error(&Problems::one(&format!("body.{name}"), "is required"));
        let text = |name: &str, value: &Option<String>| value.clone().ok_or_else(|| missing(name));
        Ok(Some(match grant_type {
            TokenGrant::RefreshToken => Grant::Refresh(text("refresh_token", &self.refresh_token)?.into()),
            TokenGrant::ClientCredentials => return Ok(None),
            TokenGrant::DeviceCode => Grant::Device(device::Poll::parse(&text("device_code", &self.device_code)?)?),
            TokenGrant::AuthorizationCode => Grant::Code(Box::new(redemption::Redemption {
                code: text("code", &self.code)?.into(),
                redirect_uri: self.redirect_uri.clone().ok_or_else(|| missing("redirect_uri"))?,
                verifier: text("code_verifier", &self.code_verifier)?.into(),
                device: None,
            })),
        }))
    }
}

impl Grant {
    /// The table keys of the items to read, in addition to the project and the API key.
    fn keys(&self, project: &ProjectId, device: Option<&DeviceToken>) -> Vec<Key> {
        match self {
            Self::Refresh(token) => vec![token_key(project, token)],
            Self::Device(poll) => vec![poll.key(project)],
            Self::Code(redemption) => {
                let user = code::user_of(&redemption.code);
                let device = user.and_then(|user| remembered::key(project, user, device));
                [code_key(project, &redemption.code)].into_iter().chain(user.map(|user| user_key(project, user))).chain(device).collect()
            }
        }
    }

    async fn exchange(self, app: &App, project: &Project, mut items: Items, caller: &Caller) -> Result<Tokens, Error> {
        match self {
            Self::Refresh(token) => {
                let Some(claim) = app.store.knowing(items).token_claim(&project.id, &token).await? else {
                    limits::unknown_token(app, &project.id, &caller.place).await?;
                    return Err(KnownError::RefreshTokenNotFoundOrExpired.into());
                };
                Ok(Tokens::from_refresh(Box::pin(refresh(app, project, &token, claim, &caller.place)).await?))
            }
            Self::Device(poll) => {
                let stored = items.entity(&poll.key(&project.id))?;
                poll.exchange(Scope { app, project, place: &caller.place }, stored).await
            }
            Self::Code(mut redemption) => {
                let stored = items.entity::<AuthorizationCode>(&code_key(&project.id, &redemption.code))?;
                match &stored {
                    Some(_) => limits::by_secret(app, &project.id, Rule::Token, &redemption.code).await?,
                    None => limits::unknown_token(app, &project.id, &caller.place).await?,
                }
                let user = code::user_of(&redemption.code).and_then(|user| items.take(&user_key(&project.id, user)));
                let row = user.map(UserRow::of).transpose()?;
                if let Some(row) = &row {
                    redemption.device = remembered::device(app, project, &row.user, (&items, caller.device.as_ref()))?;
                }
                Box::pin(redemption.redeem(Scope { app, project, place: &caller.place }, stored, row)).await
            }
        }
    }
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    _: Option<Access<Client>>,
    ClientInput(body): ClientInput<TokenRequest>,
) -> Result<Tokens, TokenError> {
    let grant = body.grant()?;
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id.clone()) };
    let project_id = client_project(&body.client_id).ok_or_else(invalid)?;
    let secret = body
        .client_secret
        .as_deref()
        .filter(|secret| !secret.is_empty() && *secret != NO_KEY)
        .map(|secret| SecretString::from(secret.to_owned()));
    let granted = grant.iter().flat_map(|grant| grant.keys(&project_id, caller.device.as_ref()));
    let claim = Claim::from_client(project_id.clone(), secret.as_ref());
    // A machine's key proves more than a client's, so it is always read.
    let lookup = app.proofs.look_up(claim, grant.is_some() && !caller.is_own_page, app.clock.now());
    let items = app.store.get_many(lookup.keys().chain(granted)).await?;
    let Some(proof) = lookup.proof(&items)? else {
        limits::unproved(&app, None, &caller.place).await?;
        return Err(invalid().into());
    };
    let (project, key) = (&*proof.project, proof.key.as_deref());
    let scope = Scope { app: &app, project, place: &caller.place };
    let Some(grant) = grant else {
        return Ok(machine::exchange(scope, secret.as_ref(), key, invalid).await?);
    };
    limits::by_place(&app, &project.id, Limit::Token, &caller.place).await?;
    if !caller.is_own_page {
        prove_client(scope, secret.is_some(), key, invalid).await?;
    }
    lookup.remember(&app.proofs, &proof);
    // The exchange does not use the access headers, so the audit trail records a client without a
    // user even if they prove more.
    record::by(project, trail::Access::Client, Actor::Anonymous, None);
    Ok(Box::pin(grant.exchange(&app, project, items, &caller)).await?)
}
