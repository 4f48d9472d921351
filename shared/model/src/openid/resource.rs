//! Resources: the services for which OAuth clients get access tokens, such as APIs and MCP servers.
//! A resource is identified by its URL (RFC 8707 §2), which is the audience of its tokens.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::project::signing_key::TokenAlgorithm;
use crate::session::resource_scopes::ResourceIdentifier;
use crate::session::scope::Scopes;

/// The maximum number of resources of a project.
pub const MAX_RESOURCES: usize = 100;
/// The maximum number of scopes of a resource.
pub const MAX_SCOPES: usize = 50;
/// The maximum number of resources that one authorization request can name.
pub const MAX_REQUESTED: usize = 5;

/// A resource.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthResource {
    /// The URL that identifies the resource. It cannot be changed.
    pub identifier: ResourceIdentifier,
    /// The name that users see.
    pub name: String,
    /// What clients can be permitted to do with the resource.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<ResourceScope>,
    /// The algorithm that signs the resource's access tokens.
    #[serde(default, skip_serializing_if = "TokenAlgorithm::is_default")]
    pub signing_algorithm: TokenAlgorithm,
    /// How long access tokens are valid, in seconds; absent for the client's setting.
    pub access_token_seconds: Option<u32>,
    /// When the resource was created.
    pub created_at: Timestamp,
    /// When the resource was last changed.
    pub updated_at: Timestamp,
}

/// A scope of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceScope {
    /// The name of the scope in requests and tokens.
    pub name: String,
    /// What the scope permits, in words for users.
    pub description: String,
}

impl OauthResource {
    /// The resource's scopes among those that a client requests.
    pub fn requested(&self, asked: &Scopes) -> Scopes {
        let mut scopes = Scopes::default();
        self.scopes.iter().filter(|scope| asked.has_name(&scope.name)).for_each(|scope| scopes.add(&scope.name));
        scopes
    }

    /// The names of all scopes.
    pub fn names(&self) -> Scopes {
        let mut scopes = Scopes::default();
        self.scopes.iter().for_each(|scope| scopes.add(&scope.name));
        scopes
    }
}
