//! `POST /api/v1/projects/{project_id}/oauth2/register`: registers an OAuth client at its own
//! request (RFC 7591). Old MCP clients need this; newer ones have a metadata document instead. A
//! project must permit it. Registered clients are public, and are deleted after 30 days if nobody
//! signs in to them.

use api::http::TableAction::{PutItem, Query, UpdateItem};
use api::http::client::Caller;
use api::http::{BodyRule, CreatedJson, Route};
use api::product::Input;
use api::product::input::{Nothing, ProjectPath};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, limits};
use futures_util::try_join;
use model::limit::{Limit, Rule, Subject};
use model::openid::document::{ClientMetadata, MetadataRefusal};
use model::place::Place;
use serde::Serialize;
use store::record;
use utoipa::ToSchema;
use wire::id::{OauthClientId, ProjectId};

pub const ROUTE: Route = Route::post("openid-client-register", "/api/v1/projects/{project_id}/oauth2/register")
    .summary("Registers an OAuth client at its own request")
    .limit(Limit::OauthClient)
    .body(BodyRule::OauthJson)
    .without_secret()
    .table(&[PutItem, Query, UpdateItem])
    .errors(&[
        ErrorCode::ClientMetadataInvalid,
        ErrorCode::ClientRegistrationNotEnabled,
        ErrorCode::ProjectNotFound,
        ErrorCode::TooManyUnusedClients,
    ]);

/// The client's description of itself (RFC 7591 §2). Other fields are ignored.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct ClientRegistration {
    /// The name that users see: one line of 1 to 100 characters. Required.
    #[schema(example = "Notes")]
    client_name: Option<String>,
    /// Where users may return. Required; the same rules apply as for clients that administrators
    /// create.
    redirect_uris: Option<Vec<String>>,
    /// Where users may go after signing out.
    post_logout_redirect_uris: Option<Vec<String>>,
    /// Must be `none`, or absent.
    token_endpoint_auth_method: Option<String>,
    /// Must contain `authorization_code`, or be absent.
    grant_types: Option<Vec<String>>,
    /// Must contain `code`, or be absent.
    response_types: Option<Vec<String>>,
    /// `native` if the redirect URIs are on localhost or have a private scheme, `web` if they are
    /// https URLs.
    application_type: Option<String>,
    /// An https URL of a page about the client.
    client_uri: Option<String>,
    /// An https URL of the client's privacy policy.
    policy_uri: Option<String>,
    /// An https URL of the client's terms of service.
    tos_uri: Option<String>,
}

/// The registered client (RFC 7591 §3.2.1).
#[derive(Serialize, ToSchema)]
pub struct RegisteredClient {
    /// The client's `client_id`.
    client_id: OauthClientId,
    /// When the client was registered, in seconds since the Unix epoch.
    client_id_issued_at: i64,
    /// The name that users see.
    client_name: String,
    /// Where users may return.
    redirect_uris: Vec<String>,
    /// Where users may go after signing out.
    post_logout_redirect_uris: Vec<String>,
    /// Always `none`.
    #[schema(example = "none")]
    token_endpoint_auth_method: &'static str,
    /// What the client can send to the token endpoint.
    grant_types: [&'static str; 2],
    /// Always `code`.
    response_types: [&'static str; 1],
}

pub async fn handle(
    State(app): State<App>,
    caller: Caller,
    Input { body, path, .. }: Input<ClientRegistration, Nothing, ProjectPath>,
) -> Result<CreatedJson<RegisteredClient>, Error> {
    let id = ProjectId::parse(&path.project_id).map_err(|_| KnownError::ProjectNotFound { project_id: path.project_id.clone() })?;
    let Some(row) = app.store.project(&id).await? else {
        limits::unproved(&app, None, &caller.place).await?;
        return Err(KnownError::ProjectNotFound { project_id: path.project_id }.into());
    };
    let project = row.project;
    if id.is_internal() || !project.config.oauth_clients.registration_enabled {
        limits::unproved(&app, Some(&id), &caller.place).await?;
        return Err(KnownError::ClientRegistrationNotEnabled.into());
    }
    let now = app.clock.now();
    let is_full = async { app.store.has_many_unused_clients(&id, now).await.map_err(Error::from) };
    let ((), is_full) = try_join!(count(&app, &id, &caller.place), is_full)?;
    if is_full {
        return Err(KnownError::TooManyUnusedClients.into());
    }
    let own = app.entropy.uuid().into();
    let client = body.into_metadata().registered(own, now).map_err(refused)?;
    record::on(&project);
    app.store.register_oauth_client(&id, &client).await?;
    Ok(CreatedJson(RegisteredClient {
        client_id: client.id,
        client_id_issued_at: now.as_second(),
        client_name: client.name,
        redirect_uris: client.redirect_uris,
        post_logout_redirect_uris: client.post_logout_redirect_uris,
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
    }))
}

/// Counts the registration, which anybody can send.
async fn count(app: &App, project: &ProjectId, place: &Place) -> Result<(), Error> {
    let (address, network) = (Subject::address(place.ip), Subject::network(place.ip));
    // Known refusals come first, because the clients are counted at the same time.
    limits::room(app, project, Rule::OauthClientRegistration, &address)?;
    limits::room(app, project, Rule::OauthClientRegistrationNetwork, &network)?;
    try_join!(
        limits::by_place(app, project, Limit::OauthClient, place),
        limits::by_subject(app, project, Rule::OauthClientRegistration, &address),
        limits::by_subject(app, project, Rule::OauthClientRegistrationNetwork, &network),
    )?;
    Ok(())
}

fn refused(refusal: MetadataRefusal) -> KnownError {
    let oauth_error = match refusal {
        MetadataRefusal::RedirectUri(_) => "invalid_redirect_uri",
        MetadataRefusal::Metadata(_) => "invalid_client_metadata",
    };
    KnownError::ClientMetadataInvalid { oauth_error: oauth_error.to_owned(), reason: refusal.to_string() }
}

impl ClientRegistration {
    fn into_metadata(self) -> ClientMetadata {
        ClientMetadata {
            client_name: self.client_name,
            redirect_uris: self.redirect_uris,
            post_logout_redirect_uris: self.post_logout_redirect_uris,
            token_endpoint_auth_method: self.token_endpoint_auth_method,
            grant_types: self.grant_types,
            response_types: self.response_types,
            application_type: self.application_type,
            client_uri: self.client_uri,
            policy_uri: self.policy_uri,
            tos_uri: self.tos_uri,
            ..ClientMetadata::default()
        }
    }
}
