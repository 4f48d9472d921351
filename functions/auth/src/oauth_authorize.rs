//! `GET /api/v1/auth/oauth/authorize/{provider_id}`: starts an OAuth flow with a provider.
//!
//! The client, the provider, the URLs, the token and the bot challenge are checked before the user
//! is sent to the provider. The data for the callback is stored for ten minutes under the digest of
//! a random state. The PKCE verifier in this data is sealed. In redirect mode, a cookie binds the
//! flow to the browser (RFC 9700 §4.7).

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::client::Caller;
use api::http::{Describe, Description, Json, Route};
use api::product::Input;
use api::product::access::NO_KEY;
use api::product::input::IgnoredBody;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use errors::{Error, ErrorCode, KeySlip, KnownError};
use flows::App;
use flows::bot_challenge::{AdmittedRequest, ChallengeFields, Check};
use flows::context::Scope;
use flows::current_user::{self, CurrentUser, token_error};
use flows::limits::{self, RequestCount};
use flows::signing_keys;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use model::bot_challenge::GuardedOperation;
use model::limit::Limit;
use model::project::{ApiKey, OAuthProvider, Project};
use model::provider::catalog;
use model::session::token::Claims;
use model::sign_in::authorization::{self, Authorization, LIFE, MEMORY, ProviderRequest, Purpose, RequestedAccess, ResponseMode};
use model::user::restriction::RestrictedReason;
use net::outgoing::Outgoing;
use oauth::metadata;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use store::Items;
use store::keys::{api_key_key, project_key};
use store::project::ProjectRow;
use url::Url;
use utoipa::ToSchema;
use wire::clock::after;

use crate::oauth::authorize_query::AuthorizeQuery;
use crate::oauth::client::{client_project, prove_client};
use crate::oauth::flow;
use crate::oauth::provider_answer::ProviderPath;
use crate::oauth::provider_client;

pub const ROUTE: Route = Route::get("auth-oauth-authorize", "/api/v1/auth/oauth/authorize/{provider_id}")
    .summary("Starts an OAuth flow that signs in with a provider or links an account")
    .limit(Limit::Authorize)
    .leaves_no_trail("it only starts a flow, and nothing changes until the flow ends")
    .table(&[BatchGetItem, PutItem])
    .errors(&[
        ErrorCode::InvalidOauthClientIdOrSecret,
        ErrorCode::PublishableClientKeyRequiredForProject,
        ErrorCode::InvalidPublishableClientKey,
        ErrorCode::OauthProviderNotFoundOrNotEnabled,
        ErrorCode::OauthProviderTemporarilyUnavailable,
        ErrorCode::OauthProviderMisconfigured,
        ErrorCode::InvalidScope,
        ErrorCode::OauthExtraScopeNotAvailableWithSharedOauthKeys,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::UnparsableAccessToken,
        ErrorCode::AccessTokenExpired,
        ErrorCode::InvalidProjectForAccessToken,
        ErrorCode::AnonymousAuthenticationNotAllowed,
        ErrorCode::RestrictedUserNotAllowed,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
    ]);

/// The response in JSON mode. In redirect mode, the `Location` header of a 307 response contains
/// the same URL.
#[derive(Serialize, ToSchema)]
pub struct Location {
    /// The URL to which the user must be sent.
    location: Url,
}

/// Sends the user to the provider with a redirect. In JSON mode, the response contains a URL that
/// the app opens.
pub enum ProviderRedirect {
    Json(Location),
    Redirect { location: Url, cookie: String },
}

impl IntoResponse for ProviderRedirect {
    fn into_response(self) -> Response {
        match self {
            Self::Json(location) => Json(location).into_response(),
            Self::Redirect { location, cookie } => {
                let mut headers = HeaderMap::new();
                for (name, value) in [(header::LOCATION, location.as_str()), (header::SET_COOKIE, &cookie)] {
                    if let Ok(value) = HeaderValue::from_str(value) {
                        headers.insert(name, value);
                    }
                }
                (StatusCode::TEMPORARY_REDIRECT, headers).into_response()
            }
        }
    }
}

impl Describe for ProviderRedirect {
    fn describe(description: &mut Description) {
        Json::<Location>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    Input { query, path, .. }: Input<IgnoredBody, AuthorizeQuery, ProviderPath>,
) -> Result<ProviderRedirect, Error> {
    query.check(ROUTE.path)?;
    if let Some(token) = &query.token {
        signing_keys::learn(&app, token).await?;
    }
    let claims = read_token(&app, &query);
    let (project, items) = look_up(&app, &caller, &query, claims.as_ref().ok().and_then(Option::as_ref)).await?;
    let provider = project.config.oauth_provider(&path.provider_id);
    let provider = provider.ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    // The published SDK sends only the scope `legacy`.
    if query.scope != "legacy" {
        return Err(KnownError::InvalidScope.into());
    }
    query.check_urls(&project.redirects(&app.settings.own_pages))?;
    if provider.is_shared() && query.provider_scope.as_deref().is_some_and(|scope| !scope.trim().is_empty()) {
        return Err(KnownError::OauthExtraScopeNotAvailableWithSharedOauthKeys.into());
    }
    let current = claims?.map(|claims| current_user(&app, &project, &claims, &items)).transpose()?;
    let is_linking = query.purpose() == Purpose::Link;
    if let Some(current) = current.as_ref().filter(|_| is_linking) {
        current.check_fresh(&project, None, &app)?;
        if !project.config.quotas.admits(current.row.user.is_anonymous) {
            return Err(KnownError::AnonymousAuthenticationNotAllowed.into());
        }
    }
    // At sign-in, the token is used only if it belongs to an anonymous user who can sign up.
    let current = current.filter(|current| is_linking || current.is_upgraded_by_sign_up());
    let admitted = admit(&app, &project, &caller, &query).await?;
    begin(Scope { app: &app, project: &project, place: &caller.place }, provider, query, current.as_ref(), admitted).await
}

/// Runs the bot check, unless the flow links an account, which only a signed-in user can do.
async fn admit<'a>(
    app: &'a App,
    project: &'a Project,
    caller: &'a Caller,
    query: &AuthorizeQuery,
) -> Result<Option<AdmittedRequest<'a>>, Error> {
    if query.purpose() == Purpose::Link {
        return Ok(None);
    }
    let presented = ChallengeFields {
        token: query.bot_challenge_token.clone(),
        phase: query.bot_challenge_phase,
        unavailable: query.bot_challenge_unavailable,
    };
    Check::at(app, project, &caller.place, GuardedOperation::OAuth).admit(presented).await.map(Some)
}

/// The claims of the token in the query, if the query contains a token.
fn read_token(app: &App, query: &AuthorizeQuery) -> Result<Option<Claims>, KnownError> {
    let token = query.token.as_deref().filter(|token| !token.is_empty());
    token.map(|token| app.signer.verify(token, app.clock.now()).map_err(token_error)).transpose()
}

/// Reads the client's project and the items of the token's user in one round trip, and checks the
/// client's key.
async fn look_up(app: &App, caller: &Caller, query: &AuthorizeQuery, claims: Option<&Claims>) -> Result<(Project, Items), Error> {
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(query.client_id.clone()) };
    let id = client_project(&query.client_id).ok_or_else(invalid)?;
    // The OAuth client secret is the project's publishable client key.
    let client_key = Some(&query.client_secret).filter(|key| !key.is_empty() && *key != NO_KEY).map(|key| SecretString::from(key.clone()));
    let project_item = project_key(&id);
    let key_item = client_key.as_ref().map(|key| api_key_key(&id, key));
    let of_user = claims.map(|claims| current_user::keys(&id, claims));
    let keys = [Some(&project_item), key_item.as_ref()].into_iter().flatten().cloned().chain(of_user.into_iter().flatten());
    let counting = RequestCount::by_place(app, &id, Limit::Authorize, &caller.place);
    let (early, mut items) = futures_util::try_join!(counting.early(), app.store.get_many(keys.chain(counting.keys())))?;

    let Some(project) = items.take(&project_item).map(ProjectRow::of).transpose()?.map(|row| row.project) else {
        limits::unproved(app, None, &caller.place).await?;
        return Err(invalid().into());
    };
    let key = key_item.map(|key| items.entity::<ApiKey>(&key)).transpose()?.flatten();
    let wrong_key = || KnownError::InvalidPublishableClientKey { project_id: id.to_string(), slip: KeySlip::None };
    if !caller.is_own_page {
        prove_client(Scope { app, project: &project, place: &caller.place }, client_key.is_some(), key.as_ref(), wrong_key).await?;
    }
    counting.settle(early, &items).await?;
    Ok((project, items))
}

/// The user of the token, if its session is live and no administrator has restricted the user.
fn current_user(app: &App, project: &Project, claims: &Claims, items: &Items) -> Result<CurrentUser, Error> {
    if claims.project_id != project.id {
        return Err(KnownError::InvalidProjectForAccessToken {
            expected_project_id: project.id.to_string(),
            actual_project_id: claims.project_id.to_string(),
        }
        .into());
    }
    let current = current_user::live_user(project, claims, items, app)?;
    if current.row.user.restriction.is_some() {
        return Err(KnownError::RestrictedUserNotAllowed { restricted_reason: RestrictedReason::RestrictedByAdministrator }.into());
    }
    Ok(current)
}

/// Stores the data for the callback and builds the URL of the provider.
async fn begin(
    Scope { app, project, .. }: Scope<'_>,
    provider: &OAuthProvider,
    query: AuthorizeQuery,
    current: Option<&CurrentUser>,
    admitted: Option<AdmittedRequest<'_>>,
) -> Result<ProviderRedirect, Error> {
    let (state, verifier, now) = (flow::state(app, &project.id), app.entropy.code(), app.clock.now());
    let callback = flow::callback(app, &provider.id);
    let challenge = authorization::challenge(verifier.expose_secret());
    let (mode, purpose) = (query.mode(), query.purpose());
    let scope = query.provider_scope.as_deref();
    let (endpoint, has_offline_access) = authorization_endpoint(app, project, provider, authorization::is_plain(purpose, scope)).await?;
    let asked = RequestedAccess::new(&provider.id, purpose, scope, has_offline_access);
    let request = ProviderRequest {
        provider,
        client_id: provider_client::client_id(app, provider)?,
        endpoint: &endpoint,
        callback: &callback,
        state: state.expose_secret(),
        challenge: &challenge,
        nonce: &authorization::challenge(state.expose_secret()),
        asked: &asked,
    };
    let location = request.url()?;
    let authorization = Authorization {
        project_id: project.id.clone(),
        provider_id: provider.id.clone(),
        registration: Some(provider.registration()),
        purpose,
        response_mode: mode,
        redirect_uri: query.redirect_uri.without_fragment(),
        state: query.state,
        code_challenge: query.code_challenge,
        error_redirect_url: query.error_redirect_uri.or(query.error_redirect_url),
        after_callback_redirect_url: query.after_callback_redirect_url,
        provider_scope: query.provider_scope,
        user_id: current.map(|current| current.row.user.id),
        epoch: current.map_or(0, |current| current.row.user.credential_epoch),
        begun_in: current.map(|current| current.session.id),
        verifier: app.sealer.seal(&app.entropy, "oauth-verifier", &verifier)?,
        expires_at: after(now, LIFE),
    };
    let begin = app.store.begin_authorization(&state, &authorization);
    match admitted {
        Some(admitted) => admitted.counted_with(begin).await?,
        None => begin.await?,
    }
    Ok(match mode {
        ResponseMode::Json => ProviderRedirect::Json(Location { location }),
        ResponseMode::Redirect => ProviderRedirect::Redirect { location, cookie: flow::cookie(app, &state, LIFE + MEMORY) },
    })
}

/// The provider's authorization endpoint, from the project's settings, the catalog or otherwise the
/// issuer's metadata. Also returns whether the metadata lists the scope `offline_access`. If the
/// flow is plain, the metadata is not read just for this scope.
async fn authorization_endpoint(
    app: &App,
    project: &Project,
    provider: &OAuthProvider,
    is_plain: bool,
) -> Result<(String, bool), KnownError> {
    let outgoing = Outgoing::for_metadata(&app.settings, &project.id);
    let known = authorization::known_endpoint(provider).map(|endpoint| outgoing.place(endpoint).into_owned());
    if let Some(endpoint) = known.clone().filter(|_| is_plain || catalog::find(&provider.id).is_some()) {
        return Ok((endpoint, false));
    }
    let issuer = provider.issuer.as_deref().unwrap_or_default();
    let metadata = metadata::discover(outgoing, issuer, app.clock.now()).await.map_err(|fault| {
        tracing::warn!(%fault, provider = provider.id, "an issuer's endpoints cannot be discovered");
        match flow::fault_error(&provider.id, fault) {
            misconfigured @ KnownError::OauthProviderMisconfigured { .. } => misconfigured,
            _ => KnownError::OauthProviderTemporarilyUnavailable,
        }
    })?;
    let has_offline_access = metadata.has_offline_access();
    Ok((known.unwrap_or(metadata.authorization_endpoint), has_offline_access))
}
