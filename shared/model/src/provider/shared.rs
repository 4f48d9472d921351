//! The deployment's clients at providers, which projects can use instead of their own.

use std::collections::BTreeMap;

use secrecy::SecretString;

/// A provider at which a deployment can have a shared client.
#[derive(Debug)]
pub struct ShareableProvider {
    /// The id of the provider.
    pub id: &'static str,
    /// The environment variable with the client id.
    pub id_variable: &'static str,
    /// The environment variable with the client secret.
    pub secret_variable: &'static str,
}

/// The providers at which deployments can share a client.
pub const SHARED: [ShareableProvider; 4] = [
    ShareableProvider {
        id: "google",
        id_variable: "GATELET_SHARED_GOOGLE_CLIENT_ID",
        secret_variable: "GATELET_SHARED_GOOGLE_CLIENT_SECRET",
    },
    ShareableProvider {
        id: "github",
        id_variable: "GATELET_SHARED_GITHUB_CLIENT_ID",
        secret_variable: "GATELET_SHARED_GITHUB_CLIENT_SECRET",
    },
    ShareableProvider {
        id: "microsoft",
        id_variable: "GATELET_SHARED_MICROSOFT_CLIENT_ID",
        secret_variable: "GATELET_SHARED_MICROSOFT_CLIENT_SECRET",
    },
    ShareableProvider {
        id: "spotify",
        id_variable: "GATELET_SHARED_SPOTIFY_CLIENT_ID",
        secret_variable: "GATELET_SHARED_SPOTIFY_CLIENT_SECRET",
    },
];

/// A client that the operator has registered at a provider.
#[derive(Clone)]
pub struct SharedClient {
    /// The client id.
    pub id: String,
    /// The client secret; absent in functions that do not call providers.
    pub secret: Option<SecretString>,
}

/// The deployment's clients, by provider id.
#[derive(Clone, Default)]
pub struct SharedClients(BTreeMap<&'static str, SharedClient>);

impl SharedClients {
    /// The deployment's client at a provider; `None` if there is no such client.
    pub fn get(&self, provider_id: &str) -> Option<&SharedClient> {
        self.0.get(provider_id)
    }
}

impl FromIterator<(&'static str, SharedClient)> for SharedClients {
    fn from_iter<T: IntoIterator<Item = (&'static str, SharedClient)>>(clients: T) -> Self {
        Self(clients.into_iter().collect())
    }
}

/// The provider with this id, if deployments can share a client at this provider.
pub fn shareable(provider_id: &str) -> Option<&'static ShareableProvider> {
    SHARED.iter().find(|shared| shared.id == provider_id)
}
