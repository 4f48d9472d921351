//! Grants: what a user lets a client do. There is one for each user and client; it is the consent
//! that is remembered, and what keeps the client's sessions alive.

use crypto::digest::Digest;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::{OauthClientId, OauthGrantId, UserId};

use crate::openid::client::OauthClient;
use crate::session::scope::Scopes;
use crate::user::User;

/// A grant.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OauthGrant {
    /// The client.
    pub client_id: OauthClientId,
    /// The client's name when the user consented last.
    pub client_name: String,
    /// Everything that the user has granted.
    pub scopes: Scopes,
    /// The user's `owner_epoch` when the user consented: after the account has changed hands,
    /// consent is asked for again.
    pub owner_epoch: u64,
    /// Told apart from an earlier grant to the same client, which the user ended: the sessions of
    /// that one stay ended.
    pub serial: Uuid,
    /// When the user first consented.
    pub created_at: Timestamp,
    /// When the user consented last.
    pub updated_at: Timestamp,
}

impl OauthGrant {
    /// The id of every grant to this client. It follows from the client, so that the grant is found
    /// without an index.
    pub fn id(client: OauthClientId) -> OauthGrantId {
        let digest = Digest::of(&format!("grant {client}"));
        let bytes: Vec<u8> = digest.as_str().bytes().take(16).collect();
        uuid::Builder::from_custom_bytes(bytes.try_into().unwrap_or_default()).into_uuid().into()
    }

    /// A grant after the user consented, in addition to what an earlier one had, unless that was
    /// given by somebody else.
    pub fn with(earlier: Option<&Self>, new: &NewGrant<'_>, now: Timestamp) -> Self {
        let earlier = earlier.filter(|grant| grant.is_of(new.user));
        Self {
            client_id: new.client.id,
            client_name: new.client.name.clone(),
            scopes: earlier.map(|grant| grant.scopes.clone()).unwrap_or_default().and(new.scopes),
            owner_epoch: new.user.owner_epoch,
            serial: earlier.map_or(new.serial, |grant| grant.serial),
            created_at: earlier.map_or(now, |grant| grant.created_at),
            updated_at: now,
        }
    }

    /// Whether the account has not changed hands since the user consented.
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
    /// The scopes.
    pub scopes: &'a Scopes,
    /// The serial, unless the user has a grant to the client already.
    pub serial: Uuid,
}

/// Whether a session that names this serial still rests on the user's grant. A session of a client
/// of the project itself needs none.
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
    /// The client's name when the user consented last.
    client_name: String,
    /// Everything that the user has granted.
    #[schema(value_type = Vec<String>)]
    scopes: Scopes,
    /// Milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// When the user consented last, in milliseconds since the Unix epoch.
    updated_at_millis: i64,
}

impl OauthGrantView {
    /// The view of a user's grant.
    pub fn of(grant: &OauthGrant, user: UserId) -> Self {
        Self {
            id: OauthGrant::id(grant.client_id),
            user_id: user,
            client_id: grant.client_id,
            client_name: grant.client_name.clone(),
            scopes: grant.scopes.clone(),
            created_at_millis: grant.created_at.as_millisecond(),
            updated_at_millis: grant.updated_at.as_millisecond(),
        }
    }
}
