//! The deployment's own clients at providers, which its projects may use instead of a client of
//! their own.

use std::collections::BTreeMap;

use secrecy::SecretString;

/// The ids of the providers that can be shared, in the order of the settings.
pub const SHARED: [&str; 4] = ["google", "github", "microsoft", "spotify"];

/// A client that the operator has registered at a provider.
#[derive(Clone)]
pub struct SharedClient {
    /// The client id.
    pub id: String,
    /// The client secret; absent from functions that do not call providers.
    pub secret: Option<SecretString>,
}

/// The deployment's clients, by the ids of their providers.
#[derive(Clone, Default)]
pub struct SharedClients(BTreeMap<&'static str, SharedClient>);

impl SharedClients {
    /// The client at a provider.
    pub fn get(&self, provider_id: &str) -> Option<&SharedClient> {
        self.0.get(provider_id)
    }
}

impl FromIterator<(&'static str, SharedClient)> for SharedClients {
    fn from_iter<T: IntoIterator<Item = (&'static str, SharedClient)>>(clients: T) -> Self {
        Self(clients.into_iter().collect())
    }
}

/// Whether the operator can share a client at this provider.
pub fn can_be_shared(provider_id: &str) -> bool {
    SHARED.contains(&provider_id)
}
