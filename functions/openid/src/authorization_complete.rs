//! `POST /api/v1/auth/oauth2/authorizations/complete`: continues an authorization request in the
//! current session, and returns the step that the page has to show next. Once no step is left, the
//! response contains the client's URL with the code.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, NamedItem, Route};
use api::product::header_family::header;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, limits, openid};
use http::HeaderMap;
use model::openid::client::OauthClient;
use model::openid::client::Origin;
use model::openid::code::{CODE_LIFE, ClientCode};
use model::openid::decision::{Step, UserDecision, Visitor, next};
use model::openid::grant::{NewGrant, OauthGrant};
use model::openid::request::{AuthorizationError, AuthorizationRequest, Redirection, Refusal, RequestName};
use model::openid::resource::OauthResource;
use model::openid::resource_input::ScopeView;
use model::session::scope::Scopes;
use model::session::token::client::issuer;
use model::sign_in::user_code;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use store::openid::{described, grant as stored_grant};
use store::{optimistic, session, user};
use utoipa::ToSchema;
use wire::clock::after;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("openid-authorization-complete", "/api/v1/auth/oauth2/authorizations/complete")
    .summary("Continues the authorization request of an OAuth client")
    .admits(Admission::Restricted)
    .reads(&[NamedItem::AuthorizationRequest, NamedItem::RefreshTokenHeader])
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[ErrorCode::AuthorizationRequestExpired, ErrorCode::AuthorizationRequestInvalid, ErrorCode::CrossDomainSessionMismatch]);

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
    /// The resources that the client wants to use, with the requested scopes.
    resources: Vec<RequestedResource>,
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

/// A resource that a client wants to use.
#[derive(Serialize, ToSchema)]
pub struct RequestedResource {
    /// The name shown to users.
    #[schema(example = "Notes")]
    name: String,
    /// The URL that identifies the resource.
    #[schema(example = "https://mcp.example.com/mcp")]
    identifier: String,
    /// The requested scopes, with their descriptions.
    scopes: Vec<ScopeView>,
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
    /// The host of the client's metadata document, which has proved that it describes the client.
    /// `null` for other clients.
    #[schema(example = "notes.example.com")]
    document_host: Option<String>,
    /// Whether the client registered itself, so that nobody has checked its name.
    is_self_registered: bool,
}

pub async fn handle(
    headers: HeaderMap,
    access: Access<Client>,
    Input { body, .. }: Input<AuthorizationDecision>,
) -> Result<Json<Authorization>, Error> {
    prove_session(&access, &headers).await?;
    let (request, client) = opened(&access, &body.request).await?;
    let decided = UserDecision { account: body.is_account_chosen.unwrap_or(false), consent: body.consent == Some(Consent::Allow) };
    let known = access.app.store.named_resources(&access.project.id, request.resources.iter().map(|(resource, _)| resource)).await?;
    let missing = request.resources.iter().find(|(named, _)| !known.iter().any(|resource| resource.identifier == **named));
    let issuer = issuer(&access.app.settings.api_url, &access.project.id);
    let (step, redirection) = if body.consent == Some(Consent::Deny) {
        let refusal = Refusal::new(AuthorizationError::AccessDenied, "the user refused access");
        (Step::Complete, Some(request.back.refuse(&issuer, &refusal)))
    } else if let Some((named, _)) = missing {
        let refusal = Refusal::new(AuthorizationError::InvalidTarget, format!("{named} is no longer a resource of this project"));
        if request.back.is_of_stranger(&client) {
            return Err(invalid(refusal).into());
        }
        (Step::Complete, Some(request.back.refuse(&issuer, &refusal)))
    } else {
        let settled = optimistic!(|attempt| { settle(&access, &request, &client, decided, attempt).await })?;
        match settled {
            Progress::Step(step) => (step, None),
            Progress::Code(code) => (Step::Complete, Some(request.back.answer(&issuer, &[("code", &code)]))),
            // The user has not decided anything, so a stranger's site gets no answer.
            Progress::Refused(refusal) if request.back.is_of_stranger(&client) => return Err(invalid(refusal).into()),
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
        resources: known
            .iter()
            .filter_map(|resource| Some(RequestedResource::of(resource, request.resources.find(&resource.identifier)?)))
            .collect(),
        scopes: request.scopes,
        login_hint: request.login_hint,
        ui_locales: request.ui_locales,
    }))
}

fn invalid(refusal: Refusal) -> KnownError {
    KnownError::AuthorizationRequestInvalid { oauth_error: refusal.error.code().to_owned(), reason: refusal.description.into_owned() }
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
            document_host: match &client.origin {
                Some(Origin::Document { url, .. }) => Some(url.host().to_owned()),
                Some(Origin::Registration) | None => None,
            },
            is_self_registered: client.origin == Some(Origin::Registration),
        }
    }
}

impl RequestedResource {
    fn of(resource: &OauthResource, scopes: &Scopes) -> Self {
        Self { name: resource.name.clone(), identifier: resource.identifier.to_string(), scopes: ScopeView::of(resource, scopes) }
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
    let lives = !request.has_expired(app.clock.now())
        && client.is_permitted(&access.project.config.oauth_clients)
        && client.may_return_to(&request.back.redirect_uri);
    if lives { Ok((request, client)) } else { Err(expired()) }
}

/// The number of a user's grants from which on clients that describe themselves get no more.
const MAX_DESCRIBED_GRANTS: usize = 200;

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
    // The lists of a user's grants have no pages.
    if client.origin.is_some() && grant.is_none() && app.store.oauth_grants(&project.id, user.id).await?.len() >= MAX_DESCRIBED_GRANTS {
        return Ok(Progress::Refused(Refusal::new(AuthorizationError::AccessDenied, "the user has given access to too many clients")));
    }
    let new = NewGrant { client, user, scopes: &request.scopes, resources: &request.resources, serial: app.entropy.uuid() };
    let given = (!client.is_first_party).then(|| OauthGrant::with(grant.as_ref(), &new, now));
    let serial = given.as_ref().map(|given| given.serial);
    let stored = ClientCode::new(request, user, &current.session, serial, after(now, CODE_LIFE));
    let code = user_code::draw(&app.entropy, user.id);
    let mut writes =
        vec![session::lives(project, user.id, current.session.id, now), user::at_epoch(&project.id, user.id, user.credential_epoch)];
    // A grant that already contains these scopes is written again only if the user was asked for
    // consent.
    let is_new = given
        .as_ref()
        .is_some_and(|given| decided.consent || grant.as_ref().is_none_or(|old| !old.covers(&given.scopes, &given.resources)));
    if let Some(given) = given.filter(|_| is_new) {
        writes.push(stored_grant::replace(&project.id, user.id, grant.as_ref(), &given)?);
    }
    if client.expires_at.is_some() {
        writes.extend(described::keep(&project.id, client.id));
    }
    app.store.create_client_code(&project.id, &code, &stored, writes).await?;
    Ok(Progress::Code(code.expose_secret().to_owned()))
}
