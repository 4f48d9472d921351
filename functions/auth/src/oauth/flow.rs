//! The second half of an OAuth flow, which invalidates the state, exchanges the provider's code for
//! an account, and finds or creates the account's user. The user then returns to the app with an
//! authorization code or an error. This module also creates the state, the redirect URI and the
//! cookie that the first half sends to the provider and the browser.

use api::http::Json;
use api::http::client::Caller;
use axum::response::{IntoResponse as _, Response};
use crypto::digest::Digest;
use errors::{Error, KnownError};
use flows::App;
use flows::context::Scope;
use flows::limits::{self, RequestCount};
use flows::providers;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::SignedDuration;
use model::limit::Limit;
use model::project::redirect::RedirectUrl;
use model::project::{OAuthProvider, Project};
use model::provider::catalog::{self, Identity};
use model::sign_in::authorization::{self, Authorization, COOKIE_PREFIX, ResponseMode};
use model::text::line;
use net::outgoing::{AnswerError, Outgoing};
use oauth::exchange::{ExchangeError, Grant};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use store::record;
use url::Url;
use wire::id::ProjectId;
use wire::json::is_too_complex;

use crate::oauth::account;
use crate::oauth::code;
use crate::oauth::provider_answer::ProviderAnswer;
use crate::oauth::provider_client;

/// A new state for the request to the provider. The state contains the project's id, so the
/// callback can read the authorization and the project in one round trip.
pub(crate) fn state(app: &App, project: &ProjectId) -> SecretString {
    format!("{}.{project}", app.entropy.code().expose_secret()).into()
}

fn project_of(state: &str) -> Option<ProjectId> {
    state.split_once('.').and_then(|(_, project)| ProjectId::parse(project).ok())
}

/// The redirect URI for users returning from a provider.
pub(crate) fn callback(app: &App, provider_id: &str) -> String {
    providers::redirect_uri(&app.settings, provider_id)
}

/// The cookie that the callback expects. Some providers post their response across sites, so the
/// cookie needs `SameSite=None`. In development, without TLS, the cookie has `SameSite=Lax`.
/// Browsers send the cookie only with callbacks, because any page can make a browser begin many
/// flows, and their cookies would make other requests too large. The cookie's name is short, so
/// that callbacks do not become too large either. A browser keeps 180 cookies per domain, and API
/// Gateway accepts 10 KB of headers.
pub(crate) fn cookie(app: &App, state: &SecretString, life: SignedDuration) -> String {
    let rest = if app.settings.development { "SameSite=Lax" } else { "Secure; SameSite=None" };
    let path = Url::parse(&callback(app, "")).map_or_else(|_| "/".to_owned(), |url| url.path().to_owned());
    format!("{}=true; Path={path}; Max-Age={}; HttpOnly; {rest}", cookie_name(state), life.as_secs())
}

/// The name of a flow's cookie, which contains 132 bits of the state's digest.
fn cookie_name(state: &SecretString) -> String {
    format!("{COOKIE_PREFIX}{}", &Digest::of(state.expose_secret()).as_str()[..22])
}

fn has_cookie(headers: &HeaderMap, state: &SecretString) -> bool {
    let wanted = format!("{}=true", cookie_name(state));
    // Accepts the cookies of flows that an earlier version began.
    let earlier = format!("{COOKIE_PREFIX}{}=true", state.expose_secret());
    let texts = headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(';')).map(str::trim).any(|cookie| cookie == wanted || cookie == earlier)
}

/// Completes a flow.
pub(crate) async fn finish(app: &App, caller: &Caller, headers: &HeaderMap, provider_id: &str, answer: &ProviderAnswer) -> Response {
    let state = SecretString::from(answer.state.clone());
    let (authorization, project) = match Box::pin(take(app, caller, &state)).await {
        Ok(Some(taken)) => taken,
        Ok(None) => return KnownError::OauthStateNotFound.into_response(),
        Err(error) => return error.into_response(),
    };
    let in_redirect_mode = authorization.response_mode == ResponseMode::Redirect;
    let is_of_this_browser = !in_redirect_mode || has_cookie(headers, &state);
    let mut response = if authorization.provider_id == provider_id && is_of_this_browser {
        Box::pin(end(Scope { app, project: &project, place: &caller.place }, &authorization, &state, answer)).await
    } else {
        // The response comes from another provider (RFC 9700 §4.4), or the flow began in another
        // browser.
        KnownError::OauthStateNotFound.into_response()
    };
    if in_redirect_mode && let Ok(gone) = HeaderValue::from_str(&cookie(app, &state, SignedDuration::ZERO)) {
        response.headers_mut().append(header::SET_COOKIE, gone);
    }
    response
}

/// Invalidates the authorization of a state and reads the state's project, in one round trip.
/// `None` if the authorization or the project does not exist, or if the authorization belongs to
/// another project.
async fn take(app: &App, caller: &Caller, state: &SecretString) -> Result<Option<(Authorization, Project)>, Error> {
    let Some(project) = project_of(state.expose_secret()) else { return Ok(None) };
    let counting = RequestCount::by_place(app, &project, Limit::Code, &caller.place);
    let (early, items, authorization, row) = futures_util::try_join!(
        counting.early(),
        app.store.get_many(counting.keys()),
        app.store.take_authorization(state),
        app.store.project(&project)
    )?;
    let Some(row) = row else {
        limits::unproved(app, None, &caller.place).await?;
        return Ok(None);
    };
    counting.settle(early, &items).await?;
    let taken = authorization.filter(|authorization| authorization.project_id == project).map(|authorization| (authorization, row.project));
    if let Some((_, project)) = &taken {
        record::on(project);
    }
    Ok(taken)
}

async fn end(scope: Scope<'_>, authorization: &Authorization, state: &SecretString, answer: &ProviderAnswer) -> Response {
    match proceed(scope, authorization, state, answer).await {
        Ok(code) => see_other(code::url(&authorization.redirect_uri, &code, &authorization.state)),
        Err(error) => refused(scope, authorization, error),
    }
}

async fn proceed(
    scope: Scope<'_>,
    authorization: &Authorization,
    state: &SecretString,
    answer: &ProviderAnswer,
) -> Result<SecretString, Error> {
    let Scope { app, project, .. } = scope;
    if authorization.expires_at <= app.clock.now() {
        return Err(KnownError::OuterOauthTimeout.into());
    }
    project.redirects(&app.settings.own_pages).check_for_oauth(&authorization.redirect_uri)?;
    let provider = project.config.oauth_provider(&authorization.provider_id);
    let provider = provider.ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    // An administrator may have changed the provider since the flow began.
    if authorization.registration.as_ref().is_some_and(|began| *began != provider.registration()) {
        return Err(KnownError::InvalidAuthorizationCode.into());
    }
    let code = code_of(provider, answer)?;
    let verifier = app.sealer.open("oauth-verifier", &authorization.verifier)?;
    let peer = provider_client::peer(Outgoing::new(&app.settings, &project.id), app, project, provider)?;
    let (callback, nonce) = (callback(app, &provider.id), authorization::challenge(state.expose_secret()));
    let scope_asked = account::asked(authorization).scope;
    let names_issuer = answer.iss.is_some();
    let grant = Grant { code, verifier: &verifier, callback: &callback, nonce: &nonce, names_issuer, scope: &scope_asked };
    let (tokens, mut profile) = peer.account(&grant).await.map_err(|fault| {
        tracing::warn!(%fault, provider = provider.id, project = %project.id, "a provider returned no account");
        fault_error(&provider.id, fault)
    })?;
    profile.name = profile.name.or_else(|| name_of(answer));
    account::resolve(scope, authorization, &tokens, &profile).await
}

/// The provider's code. Fails if the provider's response names another issuer, is an error or does
/// not contain a code.
fn code_of<'a>(provider: &OAuthProvider, answer: &'a ProviderAnswer) -> Result<&'a str, KnownError> {
    let issuer = match catalog::find(&provider.id).map(|known| known.identity) {
        Some(Identity::IdToken { issuer, .. }) => Some(issuer),
        Some(Identity::Api(_)) => None,
        None => provider.issuer.as_deref(),
    };
    // Another issuer in the response means a mix-up attack (RFC 9207 §2.4).
    if answer.iss.as_deref().zip(issuer).is_some_and(|(named, wanted)| named != wanted) {
        return Err(KnownError::InvalidAuthorizationCode);
    }
    if let Some(error) = answer.error.as_deref() {
        let description = line::to_line(answer.error_description.as_deref().unwrap_or_default(), line::MAX_NAME);
        tracing::warn!(error = line::to_line(error, line::MAX_NAME), description, provider = provider.id, "a provider refused a flow");
        return Err(refusal(&provider.id, error));
    }
    answer.code.as_deref().filter(|code| !code.is_empty()).ok_or(KnownError::InvalidAuthorizationCode)
}

/// Translates an error in the provider's response (RFC 6749 §4.1.2.1, and codes of GitHub and
/// LinkedIn). All other errors, such as `access_denied` or `login_required`, mean that the user
/// decided not to sign in.
fn refusal(provider_id: &str, error: &str) -> KnownError {
    match error {
        "temporarily_unavailable" | "server_error" => KnownError::OauthProviderTemporarilyUnavailable,
        "invalid_request"
        | "unauthorized_client"
        | "unsupported_response_type"
        | "invalid_scope"
        | "invalid_client"
        | "redirect_uri_mismatch"
        | "application_suspended"
        | "unauthorized_scope_error" => misconfigured(provider_id),
        _ => KnownError::OauthProviderAccessDenied,
    }
}

/// The error for users of a misconfigured provider. The reason is only logged, because it may quote
/// the provider.
pub(crate) fn misconfigured(provider_id: &str) -> KnownError {
    let reason = "see the service's log".to_owned();
    KnownError::OauthProviderMisconfigured { provider_id: provider_id.to_owned(), reason }
}

/// The name in Apple's format: `{"name":{"firstName","lastName"}}`.
fn name_of(answer: &ProviderAnswer) -> Option<String> {
    let user: Value = serde_json::from_str(answer.user.as_deref().filter(|text| !is_too_complex(text.as_bytes()))?).ok()?;
    let parts = ["firstName", "lastName"].map(|part| user["name"][part].as_str().unwrap_or_default().trim());
    let name = line::to_line(parts.join(" ").trim(), line::MAX_NAME);
    (!name.is_empty()).then_some(name)
}

/// The error for users of a provider that failed during a flow.
pub(crate) fn fault_error(provider_id: &str, fault: AnswerError) -> KnownError {
    match ExchangeError::from(fault) {
        ExchangeError::Client(_) => KnownError::OauthProviderRefusesClient,
        ExchangeError::Grant(_) | ExchangeError::Fault(AnswerError::Refused(_) | AnswerError::Unauthorized) => {
            KnownError::InvalidAuthorizationCode
        }
        ExchangeError::Fault(AnswerError::Misconfigured(_) | AnswerError::Private(_)) => misconfigured(provider_id),
        ExchangeError::Fault(AnswerError::Unavailable(_) | AnswerError::Senseless(_)) => KnownError::OauthProviderTemporarilyUnavailable,
    }
}

/// Sends the user back with the error, to the flow's redirect URI if it is trusted and otherwise to
/// the app's error URL. If neither URL is trusted, returns the error in the response.
fn refused(Scope { app, project, .. }: Scope<'_>, authorization: &Authorization, error: Error) -> Response {
    let rules = project.redirects(&app.settings.own_pages);
    let urls = [Some(&authorization.redirect_uri), authorization.error_redirect_url.as_ref()];
    let target = urls.into_iter().flatten().find(|url| rules.trust_for_oauth(url));
    let known = error.known();
    match target {
        Some(url) => see_other(error_url(url, &authorization.state, &known)),
        None => known.into_response(),
    }
}

/// Translates an error to an error code of RFC 6749 §4.1.2.1.
fn oauth_code(error: &KnownError) -> &'static str {
    if *error == KnownError::OauthProviderAccessDenied { "access_denied" } else { "server_error" }
}

fn error_url(url: &RedirectUrl, state: &str, error: &KnownError) -> Url {
    let details = error.body().get("details").cloned().unwrap_or_else(|| json!({}));
    let text = error.to_string();
    let url = url.with_query("error", oauth_code(error));
    [
        ("error_description", text.as_str()),
        ("errorCode", error.code()),
        ("message", &text),
        ("details", &details.to_string()),
        ("state", state),
    ]
    .into_iter()
    .fold(url, |url, (name, value)| with(url, name, value))
}

fn with(mut url: Url, name: &str, value: &str) -> Url {
    url.query_pairs_mut().append_pair(name, value);
    url
}

/// Redirects with status 303, so that the browser does not post the form again to the next URL (RFC
/// 9700 §4.12).
fn see_other(url: Url) -> Response {
    let mut response = (StatusCode::SEE_OTHER, Json(json!({}))).into_response();
    let value = HeaderValue::from_str(url.as_str());
    if let Ok(location) = value {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}
