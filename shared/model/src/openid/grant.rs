//! Grants: what users allow clients to do. A grant records a user's consent to one client; the
//! client's sessions are valid only while the grant exists.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::{OauthClientId, OauthGrantId, UserId};

use crate::openid::client::OauthClient;
use crate::session::client_name::derived_id;
use crate::session::resource_scopes::ResourceScopes;
use crate::session::scope::Scopes;
use crate::user::User;

/// A grant.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthGrant {
    /// The client.
    pub client_id: OauthClientId,
    /// The client's name when the user last consented.
    pub client_name: String,
    /// All scopes that the user has granted, other than those of resources.
    pub scopes: Scopes,
    /// The resources that the user lets the client use.
    #[serde(default, skip_serializing_if = "ResourceScopes::is_empty")]
    pub resources: ResourceScopes,
    /// The user's `owner_epoch` at the time of consent: after the account has changed hands, the
    /// new owner is asked to consent again.
    pub owner_epoch: u64,
    /// Distinguishes the grant from an earlier grant to the same client that the user ended, so
    /// that the sessions of the earlier grant stay invalid.
    pub serial: Uuid,
    /// When the user first consented.
    pub created_at: Timestamp,
    /// When the user last consented.
    pub updated_at: Timestamp,
}

impl OauthGrant {
    /// The id that all grants to this client share. The id is derived from the client's id, so a
    /// user's grant is found without an index.
    pub fn id(client: OauthClientId) -> OauthGrantId {
        derived_id(&format!("grant {client}")).into()
    }

    /// The grant after the user has consented. The new scopes are added to those of an earlier
    /// grant, unless another owner of the account gave that grant.
    pub fn with(earlier: Option<&Self>, new: &NewGrant<'_>, now: Timestamp) -> Self {
        let earlier = earlier.filter(|grant| grant.is_of(new.user));
        Self {
            client_id: new.client.id,
            client_name: new.client.name.clone(),
            scopes: earlier.map(|grant| grant.scopes.clone()).unwrap_or_default().and(new.scopes),
            resources: earlier.map(|grant| grant.resources.clone()).unwrap_or_default().and(new.resources),
            owner_epoch: new.user.owner_epoch,
            serial: earlier.map_or(new.serial, |grant| grant.serial),
            created_at: earlier.map_or(now, |grant| grant.created_at),
            updated_at: now,
        }
    }

    /// Whether the user has already granted everything that a client requests.
    pub fn covers(&self, scopes: &Scopes, resources: &ResourceScopes) -> bool {
        scopes.are_within(&self.scopes) && resources.are_within(&self.resources)
    }

    /// Whether the account still has the owner who consented.
    pub fn is_of(&self, user: &User) -> bool {
        self.owner_epoch == user.owner_epoch
    }
}

/// What a user grants.
#[derive(Debug, Clone, Copy)]
pub struct NewGrant<'a> {
    /// The client.
    pub client: &'a OauthClient,
    /// The user.
    pub user: &'a User,
    /// The scopes, other than those of resources.
    pub scopes: &'a Scopes,
    /// The resources.
    pub resources: &'a ResourceScopes,
    /// The serial to use if the user does not have a grant to the client yet.
    pub serial: Uuid,
}

/// Whether a session with this serial is still covered by the user's grant. Sessions of the
/// project's own clients do not need a grant.
pub fn is_granted(serial: Option<Uuid>, grant: Option<&OauthGrant>) -> bool {
    serial.is_none_or(|serial| grant.is_some_and(|grant| grant.serial == serial))
}

/// A grant in a response.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OauthGrant)]
pub struct OauthGrantView {
    id: OauthGrantId,
    user_id: UserId,
    /// The client that the user signed in to.
    client_id: OauthClientId,
    /// The client's name when the user last consented.
    client_name: String,
    /// All scopes that the user has granted, other than those of resources.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    /// The resources that the user lets the client use.
    resources: Vec<GrantedResource>,
    /// When the user first consented, in milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// When the user last consented, in milliseconds since the Unix epoch.
    updated_at_millis: i64,
}

/// A resource in a response, with the scopes that the user has granted.
#[derive(Debug, Serialize, ToSchema)]
pub struct GrantedResource {
    /// The URL that identifies the resource.
    #[schema(example = "https://mcp.example.com/mcp")]
    resource: String,
    /// The scopes that the client may use there.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
}

impl GrantedResource {
    /// Each of these resources.
    pub fn all(resources: &ResourceScopes) -> Vec<Self> {
        resources.iter().map(|(resource, scopes)| Self { resource: resource.to_string(), scopes: scopes.clone() }).collect()
    }
}

impl OauthGrantView {
    /// A user's grant in a response.
    pub fn of(grant: &OauthGrant, user: UserId) -> Self {
        Self {
            id: OauthGrant::id(grant.client_id),
            user_id: user,
            client_id: grant.client_id,
            client_name: grant.client_name.clone(),
            scopes: grant.scopes.clone(),
            resources: GrantedResource::all(&grant.resources),
            created_at_millis: grant.created_at.as_millisecond(),
            updated_at_millis: grant.updated_at.as_millisecond(),
        }
    }
}
