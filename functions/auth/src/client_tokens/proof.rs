//! Which client asks (RFC 6749 §3.2.1). One round trip reads project and client together with
//! whatever the request names.

use errors::{Error, KnownError};
use flows::App;
use flows::limits;
use model::limit::Limit;
use model::openid::client::OauthClient;
use model::place::Place;
use model::project::Project;
use secrecy::SecretString;
use store::keys::project_key;
use store::openid::client_key;
use store::project::ProjectRow;
use store::{Items, Key};
use wire::id::{OauthClientId, ProjectId};

/// The credentials of a client.
pub(crate) struct ClientCredentials {
    pub(crate) client: OauthClientId,
    pub(crate) secret: Option<SecretString>,
}

/// A client that has proved itself, and the other items that were read.
pub(crate) struct ProvedClient {
    pub(crate) project: Project,
    pub(crate) client: OauthClient,
    pub(crate) items: Items,
}

/// Reads project and client with the items `keys`, and checks the client. Wrong credentials are
/// counted.
pub(crate) async fn prove(
    app: &App,
    project: &ProjectId,
    presented: &ClientCredentials,
    keys: Vec<Key>,
    place: &Place,
) -> Result<ProvedClient, Error> {
    let wrong = || KnownError::InvalidOauthClientIdOrSecret { client_id: Some(presented.client.to_string()) };
    let project_key = project_key(project);
    let mut items = app.store.get_many([project_key.clone(), client_key(project, presented.client)].into_iter().chain(keys)).await?;
    let Some(row) = items.take(&project_key).map(ProjectRow::of).transpose()? else {
        limits::unproved(app, None, place).await?;
        return Err(wrong().into());
    };
    let client = items.oauth_client(project, presented.client)?.filter(|client| !client.is_disabled);
    let client = client.filter(|client| is_proved(client, presented.secret.as_ref(), app));
    let Some(client) = client else {
        limits::unproved(app, Some(project), place).await?;
        return Err(wrong().into());
    };
    if client.is_confidential() {
        limits::by_client(app, project, client.id).await?;
    } else {
        limits::by_place(app, project, Limit::Token, place).await?;
    }
    Ok(ProvedClient { project: row.project, client, items })
}

/// A public client has no secret, so one that is sent cannot be right.
fn is_proved(client: &OauthClient, secret: Option<&SecretString>, app: &App) -> bool {
    match secret {
        Some(secret) => client.is_confidential() && client.has_secret(secret, app.clock.now()),
        None => !client.is_confidential(),
    }
}
