//! `POST /api/v1/auth/oauth2/authorizations/complete`: continues an authorization request in the
//! current session, and returns the step that the page has to show next. Once no step is left, the
//! response contains the client's URL with the code.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::header_family::header;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, limits, openid};
use http::HeaderMap;
use model::openid::client::OauthClient;
use model::openid::code::{CODE_LIFE, ClientCode};
use model::openid::decision::{Step, UserDecision, Visitor, next};
use model::openid::grant::{NewGrant, OauthGrant};
use model::openid::request::{AuthorizationError, AuthorizationRequest, Redirection, Refusal, RequestName};
use model::session::scope::Scopes;
use model::session::token::client::issuer;
use model::sign_in::user_code;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::openid::grant as stored_grant;
use store::{optimistic, session, user};
use utoipa::ToSchema;
use wire::clock::after;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("openid-authorization-complete", "/api/v1/auth/oauth2/authorizations/complete")
    .summary("Continues the authorization request of an OAuth client")
    .admits(Admission::Restricted)
    .reads(&[NamedItem::AuthorizationRequest, NamedItem::RefreshTokenHeader])
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::AuthorizationRequestExpired, ErrorCode::CrossDomainSessionMismatch]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AuthorizationDecision {
    /// The name of the request, as returned by `POST /api/v1/auth/oauth2/authorizations`.
    request: String,
    /// The user's decision. The field is absent until the user has been asked.
    consent: Option<Consent>,
    /// Whether the user wants to continue with the current account. Default: `false`.
    is_account_chosen: Option<bool>,
}

/// The user's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum Consent {
    Allow,
    Deny,
}

#[derive(Serialize, ToSchema)]
pub struct Authorization {
    /// The next step of the page. If the step is `complete`, the page follows `redirection`.
    step: Step,
    /// The URL to which the user must be sent, with the code or with the reason for the refusal.
    /// `null` before `complete`.
    redirection: Option<Redirection>,
    /// The client that requests access.
    client: AskingClient,
    /// The scopes that the client requests.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    /// The host to which the user returns, or the scheme of a native app.
    #[schema(example = "notes.example.com")]
    returns_to: String,
    /// Whether the redirect URI proves which program receives the code. If `false`, the user is
    /// asked at every sign-in.
    proves_client: bool,
    /// The origin of the redirect URI, for a page's content security policy.
    form_target: String,
    /// A hint about the user who signs in, such as an email address.
    login_hint: Option<String>,
    /// The languages that the user prefers.
    ui_locales: Option<String>,
}

/// The details of the client that the page shows.
#[derive(Serialize, ToSchema)]
pub struct AskingClient {
    /// The name shown to users.
    name: String,
    /// The URL of the logo shown to users.
    logo_url: Option<String>,
    /// The URL of the page about the client.
    client_uri: Option<String>,
    /// The client's privacy policy.
    policy_uri: Option<String>,
    /// The URL of the client's terms of service.
    tos_uri: Option<String>,
    /// Whether the client belongs to the project, so that users do not have to consent.
    is_first_party: bool,
}

pub async fn handle(
    headers: HeaderMap,
    access: Access<Client>,
    Input { body, .. }: Input<AuthorizationDecision>,
) -> Result<Json<Authorization>, Error> {
    prove_session(&access, &headers).await?;
    let (request, client) = opened(&access, &body.request).await?;
    let decided = UserDecision { account: body.is_account_chosen.unwrap_or(false), consent: body.consent == Some(Consent::Allow) };
    let issuer = issuer(&access.app.settings.api_url, &access.project.id);
    let (step, redirection) = if body.consent == Some(Consent::Deny) {
        let refusal = Refusal::new(AuthorizationError::AccessDenied, "the user refused access");
        (Step::Complete, Some(request.back.refuse(&issuer, &refusal)))
    } else {
        let settled = optimistic!(|attempt| { settle(&access, &request, &client, decided, attempt).await })?;
        match settled {
            Progress::Step(step) => (step, None),
            Progress::Code(code) => (Step::Complete, Some(request.back.answer(&issuer, &[("code", &code)]))),
            Progress::Refused(refusal) => (Step::Complete, Some(request.back.refuse(&issuer, &refusal))),
        }
    };
    Ok(Json(Authorization {
        step,
        redirection,
        returns_to: request.shown_host(),
        proves_client: request.proves_client(),
        form_target: request.form_target(),
        client: AskingClient::of(&client),
        scopes: request.scopes,
        login_hint: request.login_hint,
        ui_locales: request.ui_locales,
    }))
}

impl AskingClient {
    fn of(client: &OauthClient) -> Self {
        Self {
            name: client.name.clone(),
            logo_url: client.logo_url.clone(),
            client_uri: client.client_uri.clone(),
            policy_uri: client.policy_uri.clone(),
            tos_uri: client.tos_uri.clone(),
            is_first_party: client.is_first_party,
        }
    }
}

/// Checks that the caller also has the session's refresh token. Someone who stole only an access
/// token must not get a longer session in exchange, and the session of a client must not start
/// another session.
async fn prove_session(access: &Access<Client>, headers: &HeaderMap) -> Result<(), Error> {
    let Some(current) = &access.user else { return Ok(()) };
    let Some(token) = header(headers, "refresh-token")? else {
        return Err(ROUTE.schema_error(&Problems::one("headers.x-service-refresh-token", "is required")).into());
    };
    let claim = access.prefetched.token_claim(&access.project.id, &SecretString::from(token.to_owned())).await?;
    match claim {
        Some(claim) if (claim.user_id, claim.session_id) == (current.row.user.id, current.session.id) => Ok(()),
        Some(_) => Err(KnownError::CrossDomainSessionMismatch.into()),
        None => {
            limits::unknown_token(&access.app, &access.project.id, &access.place).await?;
            Err(KnownError::CrossDomainSessionMismatch.into())
        }
    }
}

/// The request with this name and the client of the request, if both are still valid.
async fn opened(access: &Access<Client>, name: &str) -> Result<(AuthorizationRequest, OauthClient), Error> {
    let app: &App = &access.app;
    let expired = || Error::from(KnownError::AuthorizationRequestExpired);
    let found = match RequestName::parse(name) {
        Some(name) => access.prefetched.client_request(&access.project.id, &name).await?,
        None => None,
    };
    let Some((request, client)) = found else {
        limits::unknown_token(app, &access.project.id, &access.place).await?;
        return Err(expired());
    };
    let lives = !request.has_expired(app.clock.now()) && !client.is_disabled && client.may_return_to(&request.back.redirect_uri);
    if lives { Ok((request, client)) } else { Err(expired()) }
}

/// The state of a request after a decision.
enum Progress {
    Step(Step),
    Code(String),
    Refused(Refusal),
}

/// Decides the next step, and writes the code if no step is left.
async fn settle(
    access: &Access<Client>,
    request: &AuthorizationRequest,
    client: &OauthClient,
    decided: UserDecision,
    attempt: u32,
) -> Result<Progress, Error> {
    let (app, project, now) = (&access.app, &access.project, access.app.clock.now());
    let Some(current) = &access.user else {
        return Ok(next(request, client, None, decided, now).map_or_else(Progress::Refused, Progress::Step));
    };
    let user = &current.row.user;
    let grant = if client.is_first_party { None } else { access.table(attempt).oauth_grant(&project.id, user.id, client.id).await? };
    let visitor = Visitor {
        user,
        session: &current.session,
        restricted: access.restricted_reason(user),
        is_admitted: openid::is_admitted(app, project, client, user).await?,
        grant: grant.as_ref(),
    };
    match next(request, client, Some(&visitor), decided, now) {
        Err(refusal) => return Ok(Progress::Refused(refusal)),
        Ok(Step::Complete) => {}
        Ok(step) => return Ok(Progress::Step(step)),
    }
    let new = NewGrant { client, user, scopes: &request.scopes, serial: app.entropy.uuid() };
    let given = (!client.is_first_party).then(|| OauthGrant::with(grant.as_ref(), &new, now));
    let serial = given.as_ref().map(|given| given.serial);
    let stored = ClientCode::new(request, user, &current.session, serial, after(now, CODE_LIFE));
    let code = user_code::draw(&app.entropy, user.id);
    let mut writes =
        vec![session::lives(project, user.id, current.session.id, now), user::at_epoch(&project.id, user.id, user.credential_epoch)];
    // A grant that already contains these scopes is written again only if the user was asked for
    // consent.
    let is_new = given.as_ref().is_some_and(|given| decided.consent || grant.as_ref().is_none_or(|old| old.scopes != given.scopes));
    if let Some(given) = given.filter(|_| is_new) {
        writes.push(stored_grant::replace(&project.id, user.id, grant.as_ref(), &given)?);
    }
    app.store.create_client_code(&project.id, &code, &stored, writes).await?;
    Ok(Progress::Code(code.expose_secret().to_owned()))
}
