//! `POST /api/v1/auth/oauth2/authorizations`: checks the authorization request of a client (RFC
//! 6749 §4.1.1). The authorization endpoint of the project is a page that calls this operation; an
//! app with pages of its own can call it, too.
//!
//! A request that is in order is stored, to be completed once the user has signed in; the response
//! has its name, which is short enough for links in emails. Until client and redirect URI are
//! proved, an error stays here: the redirect URI may be an attacker's.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::unproved;
use model::limit::Limit;
use model::openid::parameters::{MAX_QUERY, Parameters};
use model::openid::request::{Redirection, Refusal, RequestName};
use model::project::Project;
use model::session::token::client::issuer;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::Problems;

pub const ROUTE: Route = Route::post("openid-authorization-begin", "/api/v1/auth/oauth2/authorizations")
    .summary("Checks the authorization request of an OAuth client")
    .limit(Limit::Authorize)
    .leaves_no_trail("nobody has decided anything yet")
    .reads(&[NamedItem::RequestingClient])
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::AuthorizationRequestInvalid]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewAuthorization {
    /// The parameters of the request, form-encoded as in a query: at most 8 KB.
    #[schema(
        example = "response_type=code&client_id=…&redirect_uri=…&scope=openid&code_challenge=…&code_challenge_method=S256",
        max_length = 8192
    )]
    parameters: String,
}

/// Either `request` or `redirection` is set.
#[derive(Serialize, ToSchema)]
pub struct BegunAuthorization {
    /// The name of the request, to be completed within an hour; `null` if it is refused.
    request: Option<String>,
    /// Where to send the user if the request is refused; `null` otherwise.
    redirection: Option<Redirection>,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<NewAuthorization>) -> Result<Json<BegunAuthorization>, Error> {
    if body.parameters.len() > MAX_QUERY {
        return Err(ROUTE.schema_error(&Problems::one("body.parameters", format!("must have at most {MAX_QUERY} bytes"))).into());
    }
    begin(&access.app, &access, &Parameters::parse(&body.parameters)).await.map(Json)
}

async fn begin(app: &App, access: &Access<Client>, parameters: &Parameters) -> Result<BegunAuthorization, Error> {
    let (project, now): (&Project, _) = (&access.project, app.clock.now());
    let id = parameters.client_id().map_err(unproven)?;
    let Some(row) = access.prefetched.oauth_client(&project.id, id).await? else {
        // Counted, so that ids cannot be tried one after another.
        unproved(app, Some(&project.id), &access.place).await?;
        return Err(unknown_client().into());
    };
    let client = row.client;
    if client.is_disabled {
        return Err(unknown_client().into());
    }
    let back = parameters.return_path(&client).map_err(unproven)?;
    Ok(match parameters.request(&client, back.clone(), now) {
        Ok(request) => {
            let name = RequestName::draw(&app.entropy, client.id);
            app.store.begin_client_request(&project.id, &name, &request).await?;
            BegunAuthorization { request: Some(name.text().expose_secret().to_owned()), redirection: None }
        }
        Err(refusal) => {
            let redirection = back.refuse(&issuer(&app.settings.api_url, &project.id), &refusal);
            BegunAuthorization { request: None, redirection: Some(redirection) }
        }
    })
}

fn unproven(refusal: Refusal) -> KnownError {
    KnownError::AuthorizationRequestInvalid { oauth_error: refusal.error.code().to_owned(), reason: refusal.description.into_owned() }
}

fn unknown_client() -> KnownError {
    KnownError::AuthorizationRequestInvalid {
        oauth_error: "invalid_request".to_owned(),
        reason: "client_id names no client of this project".to_owned(),
    }
}
