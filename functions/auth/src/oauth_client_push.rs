//! `POST /api/v1/projects/{project_id}/oauth2/par`: stores the authorization request of a client
//! before the user is sent to the authorization endpoint (RFC 9126). The browser then sends only
//! the `request_uri` of the stored request, so nobody can change the request in transit. Each
//! `request_uri` works only once, and only for 90 seconds.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, CreatedJson, Route};
use api::product::client_input::ClientInput;
use api::product::input::ProjectPath;
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::openid::documents;
use flows::{App, limits};
use futures_util::try_join;
use model::limit::Limit;
use model::openid::parameters::Parameters;
use model::openid::request::{PUSHED_LIFE, Refusal, RequestName};
use model::session::client_name::ClientName;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::ProjectId;

use crate::client_tokens::proof;

pub const ROUTE: Route = Route::post("auth-oauth-client-push", "/api/v1/projects/{project_id}/oauth2/par")
    .summary("Accepts the authorization request of an OAuth client in advance")
    .limit(Limit::OauthClient)
    .body(BodyRule::OauthForm)
    .without_secret()
    .leaves_no_trail("nobody has decided anything yet")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::InvalidOauthClientIdOrSecret, ErrorCode::AuthorizationRequestInvalid]);

/// The parameters of an authorization request. Unknown fields are ignored.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct PushedRequest {
    /// The client's id. Absent if the request uses HTTP Basic.
    client_id: String,
    /// The client's secret. Absent for a public client, and if the request uses HTTP Basic.
    client_secret: Option<String>,
    /// Must be `code`.
    response_type: Option<String>,
    /// One of the client's redirect URIs.
    redirect_uri: Option<String>,
    /// The scopes, separated by spaces.
    scope: Option<String>,
    /// The value is returned to the client unchanged.
    state: Option<String>,
    /// The value is returned in the ID token.
    nonce: Option<String>,
    /// The PKCE challenge (RFC 7636 §4.2).
    code_challenge: Option<String>,
    /// Must be `S256`.
    code_challenge_method: Option<String>,
    /// `query` or `form_post`.
    response_mode: Option<String>,
    /// The steps that the pages must show to the user, or `none` if they must not show any.
    prompt: Option<String>,
    /// The maximum time since the user authenticated, in seconds.
    max_age: Option<String>,
    /// A hint about the user who signs in, such as an email address.
    login_hint: Option<String>,
    /// The languages that the user prefers.
    ui_locales: Option<String>,
    /// The authentication context classes that the client requests.
    acr_values: Option<String>,
    /// Not supported.
    request: Option<String>,
    /// The parameter is not supported, because a pushed request cannot refer to another request.
    request_uri: Option<String>,
    /// Not supported.
    registration: Option<String>,
    /// The resources for which the client requests access tokens (RFC 8707). In a form, the
    /// parameter can be repeated; in JSON, the URLs are separated by spaces.
    #[schema(example = "https://mcp.example.com/mcp")]
    resource: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct PushedAnswer {
    /// The URI of the stored request, which must be sent to the authorization endpoint as the
    /// parameter `request_uri`.
    #[schema(example = "urn:ietf:params:oauth:request_uri:…")]
    request_uri: String,
    /// The number of seconds for which the `request_uri` is valid.
    expires_in: i64,
}

impl PushedRequest {
    fn parameters(&self) -> Parameters {
        let fields = [
            ("client_id", Some(&self.client_id)),
            ("response_type", self.response_type.as_ref()),
            ("redirect_uri", self.redirect_uri.as_ref()),
            ("scope", self.scope.as_ref()),
            ("state", self.state.as_ref()),
            ("nonce", self.nonce.as_ref()),
            ("code_challenge", self.code_challenge.as_ref()),
            ("code_challenge_method", self.code_challenge_method.as_ref()),
            ("response_mode", self.response_mode.as_ref()),
            ("prompt", self.prompt.as_ref()),
            ("max_age", self.max_age.as_ref()),
            ("login_hint", self.login_hint.as_ref()),
            ("ui_locales", self.ui_locales.as_ref()),
            ("acr_values", self.acr_values.as_ref()),
            ("request", self.request.as_ref()),
            ("request_uri", self.request_uri.as_ref()),
            ("registration", self.registration.as_ref()),
        ];
        let resources = self.resource.iter().flat_map(|resources| resources.split(' ')).map(|resource| ("resource", resource));
        Parameters::from_fields(fields.into_iter().filter_map(|(name, value)| Some((name, value?.as_str()))).chain(resources))
    }
}

/// Fetches the metadata document of the client, if the client is named by the document's URL.
async fn learn(app: &App, caller: &Caller, path: &ProjectPath, client_id: &str) -> Result<(), Error> {
    let Ok(name @ ClientName::Document(_)) = ClientName::parse(client_id) else { return Ok(()) };
    let Ok(id) = ProjectId::parse(&path.project_id) else { return Ok(()) };
    let (project, row) = try_join!(app.store.project(&id), app.store.oauth_client(&id, name.id()))?;
    let Some(project) = project else { return Ok(()) };
    limits::by_place(app, &id, Limit::OauthClient, &caller.place).await?;
    if let Err(refusal) = documents::current((app, &project.project, &caller.place), &name, row).await? {
        limits::unproved(app, Some(&id), &caller.place).await?;
        return Err(invalid(refusal).into());
    }
    Ok(())
}

fn invalid(refusal: Refusal) -> KnownError {
    KnownError::AuthorizationRequestInvalid { oauth_error: refusal.error.code().to_owned(), reason: refusal.description.into_owned() }
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    ClientInput { body, path }: ClientInput<PushedRequest, ProjectPath>,
) -> Result<CreatedJson<PushedAnswer>, Error> {
    learn(&app, &caller, &path, &body.client_id).await?;
    let proved = proof::prove_client(&app, &caller, &path, &body.client_id, body.client_secret.as_deref()).await?;
    let (parameters, client) = (body.parameters(), &proved.client);
    let back = parameters.return_path(client).map_err(invalid)?;
    let known = app.store.named_resources(&proved.project.id, &parameters.resources().map_err(invalid)?).await?;
    let request = parameters.request(client, &known, back, app.clock.now()).map_err(invalid)?;
    let name = RequestName::draw(&app.entropy, client.id);
    app.store.push_client_request(&proved.project.id, &name, &request).await?;
    Ok(CreatedJson(PushedAnswer { request_uri: name.urn(), expires_in: PUSHED_LIFE.as_secs() }))
}
