//! Authenticates OAuth clients (RFC 6749 §3.2.1). The project, the client and all items that the
//! request names are read in one round trip.

use api::http::client::Caller;
use api::product::input::ProjectPath;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use flows::limits;
use model::limit::{Limit, Rule};
use model::openid::client::OauthClient;
use model::place::Place;
use model::project::Project;
use model::session::client_name::ClientName;
use secrecy::SecretString;
use store::keys::project_key;
use store::openid::client_key;
use store::project::ProjectRow;
use store::{Items, Key};
use utoipa::ToSchema;
use wire::id::ProjectId;

/// The credentials of a client.
pub(crate) struct ClientCredentials {
    pub(crate) client: ClientName,
    pub(crate) secret: Option<SecretString>,
}

impl ClientCredentials {
    pub(crate) fn new(client: ClientName, secret: Option<&str>) -> Self {
        let secret = secret.filter(|secret| !secret.is_empty());
        Self { client, secret: secret.map(|secret| SecretString::from(secret.to_owned())) }
    }
}

/// An authenticated client, and the items that were read together with it.
pub(crate) struct ProvedClient {
    pub(crate) project: Project,
    pub(crate) client: OauthClient,
    pub(crate) items: Items,
}

/// A client that its document describes is used as it was last stored, even if the document is no
/// longer fresh: the code or the refresh token was issued for it, and the document has no
/// credentials.
///
/// Reads the project and the client together with the items `keys`, and authenticates the client.
/// Wrong credentials are counted.
pub(crate) async fn prove(
    app: &App,
    project: &ProjectId,
    presented: &ClientCredentials,
    keys: Vec<Key>,
    (limit, place): (Limit, &Place),
) -> Result<ProvedClient, Error> {
    let wrong = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(presented.client.to_string()) };
    let project_key = project_key(project);
    let mut items = app.store.get_many([project_key.clone(), client_key(project, presented.client.id())].into_iter().chain(keys)).await?;
    let Some(row) = items.take(&project_key).map(ProjectRow::of).transpose()? else {
        limits::unproved(app, None, place).await?;
        return Err(wrong().into());
    };
    let client = items.oauth_client(project, presented.client.id())?.filter(|client| client.name() == presented.client);
    let client = client.filter(|client| client.is_permitted(&row.project.config.oauth_clients));
    let client = client.filter(|client| is_proved(client, presented.secret.as_ref(), app));
    let Some(client) = client else {
        limits::unproved(app, Some(project), place).await?;
        return Err(wrong().into());
    };
    if client.is_confidential() {
        let rule = if limit == Limit::Token { Rule::TokenClient } else { Rule::OauthClientOther };
        limits::by_client(app, project, rule, client.id).await?;
    } else {
        limits::by_place(app, project, limit, place).await?;
    }
    Ok(ProvedClient { project: row.project, client, items })
}

/// A request about a token. Unknown fields are ignored.
#[wire::optional]
#[derive(Deserr, ToSchema)]
pub struct TokenOfClient {
    /// The client's id. Absent if the request uses HTTP Basic.
    pub(crate) client_id: String,
    /// The client's secret. Absent for a public client, and if the request uses HTTP Basic.
    pub(crate) client_secret: Option<String>,
    /// An access token or a refresh token.
    pub(crate) token: String,
}

/// Authenticates the client of a request that needs no other items.
pub(crate) async fn prove_client(
    app: &App,
    caller: &Caller,
    path: &ProjectPath,
    client_id: &str,
    client_secret: Option<&str>,
) -> Result<ProvedClient, Error> {
    let invalid = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(client_id.to_owned()) };
    let project = ProjectId::parse(&path.project_id).map_err(|_| invalid())?;
    let credentials = ClientCredentials::new(ClientName::parse(client_id).map_err(|_| invalid())?, client_secret);
    prove(app, &project, &credentials, Vec::new(), (Limit::OauthClient, &caller.place)).await
}

/// A public client has no secret, so any secret that it sends is wrong.
fn is_proved(client: &OauthClient, secret: Option<&SecretString>, app: &App) -> bool {
    match secret {
        Some(secret) => client.is_confidential() && client.has_secret(secret, app.clock.now()),
        None => !client.is_confidential(),
    }
}
