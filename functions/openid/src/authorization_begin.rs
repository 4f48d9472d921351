//! `POST /api/v1/auth/oauth2/authorizations`: checks the authorization request of a client (RFC
//! 6749 §4.1.1). The authorization endpoint of the project is a page that calls this operation. An
//! app with its own pages in place of the hosted pages can also call the operation.
//!
//! A valid request is stored, and must be completed after the user has signed in. The response
//! contains a name for the request, which is short enough for links in emails. Until the client and
//! the redirect URI are verified, errors are not sent to the redirect URI, because this URI may
//! belong to an attacker.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::limits::{self, unproved};
use flows::openid::documents;
use flows::{App, signing_keys};
use model::limit::Limit;
use model::openid::client::OauthClient;
use model::openid::parameters::{MAX_QUERY, Parameters};
use model::openid::request::{AuthorizationError, AuthorizationRequest, PUSHED_LIFE, Redirection, Refusal, RequestName};
use model::project::Project;
use model::session::token::client::issuer;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::UserId;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("openid-authorization-begin", "/api/v1/auth/oauth2/authorizations")
    .summary("Checks the authorization request of an OAuth client")
    .limit(Limit::OauthClient)
    .leaves_no_trail("nobody has decided anything yet")
    .reads(&[NamedItem::RequestingClient])
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::AuthorizationRequestInvalid]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewAuthorization {
    /// The parameters of the request, form-encoded like a query, with at most 8 KB.
    #[schema(
        example = "response_type=code&client_id=…&redirect_uri=…&scope=openid&code_challenge=…&code_challenge_method=S256",
        max_length = 8192
    )]
    parameters: String,
}

/// The operation sets either `request` or `redirection`.
#[derive(Serialize, ToSchema)]
pub struct BegunAuthorization {
    /// The name of the request, which must be completed within an hour. `null` if the request is
    /// refused.
    request: Option<String>,
    /// The URL to which the user must be sent if the request is refused. `null` if the request is
    /// accepted.
    redirection: Option<Redirection>,
    /// The languages that the user prefers, separated by spaces, for the page that follows.
    #[schema(example = "de en")]
    ui_locales: Option<String>,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<NewAuthorization>) -> Result<Json<BegunAuthorization>, Error> {
    if body.parameters.len() > MAX_QUERY {
        return Err(ROUTE.schema_error(&Problems::one("body.parameters", format!("must have at most {MAX_QUERY} bytes"))).into());
    }
    begin(&access.app, &access, &Parameters::parse(&body.parameters)).await.map(Json)
}

async fn begin(app: &App, access: &Access<Client>, parameters: &Parameters) -> Result<BegunAuthorization, Error> {
    let (project, now): (&Project, _) = (&access.project, app.clock.now());
    let name = parameters.client_id().map_err(unproven)?;
    let row = access.prefetched.oauth_client(&project.id, name.id()).await?;
    let Some(client) = documents::current((app, project, &access.place), &name, row).await?.map_err(unproven)? else {
        // The request is counted, so that a caller cannot try many ids.
        unproved(app, Some(&project.id), &access.place).await?;
        return Err(unknown_client().into());
    };
    if !client.is_permitted(&project.config.oauth_clients) {
        return Err(unknown_client().into());
    }
    if let Some(name) = parameters.pushed().map_err(unproven)? {
        return pushed(app, access, &client, &name).await;
    }
    let back = parameters.return_path(&client).map_err(unproven)?;
    let hinted = hinted(access, parameters, &client).await?;
    let request = match parameters.resources() {
        Ok(named) => parameters.request(&client, &app.store.named_resources(&project.id, &named).await?, back.clone(), now),
        Err(refusal) => Err(refusal),
    };
    match request.and_then(|request| Ok(AuthorizationRequest { hinted: hinted?, ..request })) {
        // Any site could otherwise find out whether its visitors are signed in here.
        Ok(request) if back.is_of_stranger(&client) && request.is_silent() => {
            Err(unproven(Refusal::invalid("prompt=none is only for clients that an administrator has created")).into())
        }
        Ok(request) => stored(app, project, &request).await,
        // Strangers must not send visitors of this page to their own sites (RFC 9700 §4.11.2).
        Err(refusal) if back.is_of_stranger(&client) => Err(unproven(refusal).into()),
        Err(refusal) => {
            let redirection = back.refuse(&issuer(&app.settings.api_url, &project.id), &refusal);
            Ok(BegunAuthorization { request: None, redirection: Some(redirection), ui_locales: None })
        }
    }
}

/// The user named in the ID token that the client sends as a hint (OpenID Connect Core §3.1.2.1).
/// The token may have expired.
async fn hinted(access: &Access<Client>, parameters: &Parameters, client: &OauthClient) -> Result<Result<Option<UserId>, Refusal>, Error> {
    let token = match parameters.id_token_hint() {
        Ok(Some(token)) => token,
        Ok(None) => return Ok(Ok(None)),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (app, project) = (&access.app, &access.project.id);
    signing_keys::learn_for(app, project, token).await?;
    let hint = app.signer.verify_hint(token, project, app.clock.now()).ok().filter(|hint| hint.aud == client.name());
    Ok(hint.map(|hint| Some(hint.sub)).ok_or_else(|| Refusal::invalid("id_token_hint is not an ID token of this client")))
}

/// Continues a request that the client has pushed.
async fn pushed(app: &App, access: &Access<Client>, client: &OauthClient, name: &RequestName) -> Result<BegunAuthorization, Error> {
    let (project, now) = (&access.project, app.clock.now());
    let invalid = || unproven(Refusal::new(AuthorizationError::InvalidRequestUri, "request_uri was used before, or is too old"));
    let found = if name.client_id == client.id { app.store.take_pushed_request(&project.id, name).await? } else { None };
    let Some(request) = found else {
        limits::unknown_token(app, &project.id, &access.place).await?;
        return Err(invalid().into());
    };
    let lives = now < after(request.began_at, PUSHED_LIFE) && client.may_return_to(&request.back.redirect_uri);
    if lives { stored(app, project, &AuthorizationRequest { began_at: now, ..request }).await } else { Err(invalid().into()) }
}

async fn stored(app: &App, project: &Project, request: &AuthorizationRequest) -> Result<BegunAuthorization, Error> {
    let name = RequestName::draw(&app.entropy, request.client_id);
    app.store.begin_client_request(&project.id, &name, request).await?;
    Ok(BegunAuthorization {
        request: Some(name.text().expose_secret().to_owned()),
        redirection: None,
        ui_locales: request.ui_locales.clone(),
    })
}

fn unproven(refusal: Refusal) -> KnownError {
    KnownError::AuthorizationRequestInvalid { oauth_error: refusal.error.code().to_owned(), reason: refusal.description.into_owned() }
}

fn unknown_client() -> KnownError {
    KnownError::AuthorizationRequestInvalid {
        oauth_error: "invalid_request".to_owned(),
        reason: "client_id is not the id of a client of this project".to_owned(),
    }
}
