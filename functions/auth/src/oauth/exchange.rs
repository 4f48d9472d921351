//! Exchanges a grant for tokens, with the project as the OAuth client. The grant is a code, a
//! refresh token, a device code or a server key.

use api::http::Route;
use api::http::client::Caller;
use api::product::access::NO_KEY;
use api::product::oauth_error::OauthErrorCode;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::context::Scope;
use flows::proofs::Claim;
use flows::{App, limits};
use model::limit::{Limit, Rule};
use model::project::Project;
use model::project::redirect::RedirectUrl;
use model::sign_in::user_code;
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
use crate::oauth::{device, machine, redemption};
use crate::sign_in::remembered;
use crate::sign_in::tokens::refresh;

/// Unknown fields are ignored (RFC 6749 §3.2).
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct TokenRequest {
    #[schema(value_type = TokenGrant)]
    pub(crate) grant_type: String,
    /// The project's id. Absent if the request uses HTTP Basic.
    pub(crate) client_id: String,
    /// A publishable client key. With `client_credentials`, a server key is required instead. If
    /// the project requires no client key, this field can be omitted or be
    /// `__stack_public_client__`.
    pub(crate) client_secret: Option<String>,
    /// Required with `refresh_token`.
    pub(crate) refresh_token: Option<String>,
    /// Required with `authorization_code`.
    pub(crate) code: Option<String>,
    /// The redirect URI from the start of the flow. Required with `authorization_code`.
    pub(crate) redirect_uri: Option<RedirectUrl>,
    /// The PKCE verifier (RFC 7636 §4.5). Required with `authorization_code`.
    pub(crate) code_verifier: Option<String>,
    /// Required with `urn:ietf:params:oauth:grant-type:device_code`.
    pub(crate) device_code: Option<String>,
}

#[derive(Clone, Copy, Serialize, ToSchema, EnumString, VariantNames)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum TokenGrant {
    AuthorizationCode,
    RefreshToken,
    /// Tokens for a machine without a user. The client secret is a server key.
    ClientCredentials,
    /// RFC 8628 §3.4.
    #[serde(rename = "urn:ietf:params:oauth:grant-type:device_code")]
    #[strum(serialize = "urn:ietf:params:oauth:grant-type:device_code")]
    DeviceCode,
}

/// The reason why no token was issued.
pub enum TokenError {
    Refused(Error),
    /// The endpoint does not support the grant type. Other endpoints return a schema error for an
    /// unknown value, but OAuth has a separate error code for an unknown grant type.
    UnsupportedGrantType(Error),
}

impl TokenError {
    pub fn unsupported_grant_type(route: Route) -> Self {
        let accepted = format!("must be one of {}", TokenGrant::VARIANTS.join(", "));
        Self::UnsupportedGrantType(route.schema_error(&Problems::one("body.grant_type", accepted)).into())
    }
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
            Self::UnsupportedGrantType(error) => {
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
    /// The grant of a user. `None` for a machine, which presents only a server key.
    fn grant(&self, route: Route) -> Result<Option<Grant>, TokenError> {
        let grant_type = self.grant_type.parse().map_err(|_| TokenError::unsupported_grant_type(route))?;
        let missing = |name: &str| route.schema_error(&Problems::one(&format!("body.{name}"), "is required"));
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
                let user = user_code::user_of(&redemption.code);
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
                let user = user_code::user_of(&redemption.code).and_then(|user| items.take(&user_key(&project.id, user)));
                let row = user.map(UserRow::of).transpose()?;
                if let Some(row) = &row {
                    redemption.device = remembered::device(app, project, &row.user, (&items, caller.device.as_ref()))?;
                }
                Box::pin(redemption.redeem(Scope { app, project, place: &caller.place }, stored, row)).await
            }
        }
    }
}

/// Exchanges the grant in a request to the token endpoint.
pub(crate) async fn exchange(app: &App, caller: &Caller, body: TokenRequest, route: Route) -> Result<Tokens, TokenError> {
    let grant = body.grant(route)?;
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(body.client_id.clone()) };
    let project_id = client_project(&body.client_id).ok_or_else(invalid)?;
    let secret = body
        .client_secret
        .as_deref()
        .filter(|secret| !secret.is_empty() && *secret != NO_KEY)
        .map(|secret| SecretString::from(secret.to_owned()));
    let granted = grant.iter().flat_map(|grant| grant.keys(&project_id, caller.device.as_ref()));
    let claim = Claim::from_client(project_id.clone(), secret.as_ref());
    // A machine's key grants more than a client key, so it is always read from the table.
    let lookup = app.proofs.look_up(claim, grant.is_some() && !caller.is_own_page, app.clock.now());
    let items = app.store.get_many(lookup.keys().chain(granted)).await?;
    let Some(proof) = lookup.proof(&items)? else {
        limits::unproved(app, None, &caller.place).await?;
        return Err(invalid().into());
    };
    let (project, key) = (&*proof.project, proof.key.as_deref());
    let scope = Scope { app, project, place: &caller.place };
    let Some(grant) = grant else {
        return Ok(machine::exchange(scope, secret.as_ref(), key, invalid).await?);
    };
    limits::by_place(app, &project.id, Limit::Token, &caller.place).await?;
    if !caller.is_own_page {
        prove_client(scope, secret.is_some(), key, invalid).await?;
    }
    lookup.remember(&app.proofs, &proof);
    // The exchange does not use the access headers, so the audit trail records a client without a
    // user even if the headers prove more.
    record::by(project, trail::Access::Client, Actor::Anonymous, None);
    Ok(Box::pin(grant.exchange(app, project, items, caller)).await?)
}
