//! A project's settings for OAuth clients that describe themselves.

use serde::{Deserialize, Serialize};

/// A project's settings for clients that describe themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientSettings {
    /// Whether the URL of a metadata document can be the name of a client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub documents_enabled: bool,
    /// The hosts whose documents are accepted; empty for all hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub document_hosts: Vec<String>,
    /// Whether clients may register themselves.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub registration_enabled: bool,
}

impl ClientSettings {
    /// Whether the project accepts the documents of this host.
    pub fn permit_document(&self, host: &str) -> bool {
        self.documents_enabled && (self.document_hosts.is_empty() || self.document_hosts.iter().any(|one| one == host))
    }

    /// Whether all settings have their default values.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
