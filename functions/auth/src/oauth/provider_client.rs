//! The OAuth client for calls to a provider: the project's client or, if the project has none, the
//! deployment's client.

use errors::{Error, KnownError};
use flows::App;
use model::project::{OAuthProvider, Project, secret_owner};
use model::provider::shared::SharedClient;
use net::outgoing::Outgoing;
use oauth::exchange::{Client, Peer};

pub(crate) fn client_id<'a>(app: &'a App, provider: &'a OAuthProvider) -> Result<&'a str, KnownError> {
    if provider.is_shared() { Ok(&shared(app, provider)?.id) } else { Ok(&provider.client_id) }
}

/// A provider, to be called within the remaining time of `outgoing`. Fails if the project's client
/// secret was sealed with another deployment secret, or if the project uses the deployment's client
/// and its id or secret is not set.
pub(crate) fn peer<'a>(outgoing: Outgoing<'a>, app: &'a App, project: &Project, provider: &'a OAuthProvider) -> Result<Peer<'a>, Error> {
    let client = match &provider.client_secret {
        Some(secret) => {
            let owner = secret_owner(project.id.as_str(), &provider.id);
            Client { id: provider.client_id.clone(), secret: app.sealer.open(&owner, secret)? }
        }
        None => {
            let SharedClient { id, secret } = shared(app, provider)?.clone();
            Client { id, secret: secret.ok_or_else(|| not_shared(provider))? }
        }
    };
    Ok(Peer::new(outgoing, provider, client, app.clock.now()))
}

fn shared<'a>(app: &'a App, provider: &OAuthProvider) -> Result<&'a SharedClient, KnownError> {
    app.settings.shared_clients.get(&provider.id).ok_or_else(|| not_shared(provider))
}

fn not_shared(provider: &OAuthProvider) -> KnownError {
    tracing::error!(
        provider = provider.id,
        "a project uses the deployment's client for this provider, but there is none: set the provider's GATELET_SHARED_* id and secret"
    );
    KnownError::OauthProviderNotFoundOrNotEnabled
}
