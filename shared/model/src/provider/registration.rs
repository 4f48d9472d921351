//! Where a provider's accounts and tokens come from.
//!
//! A provider is identified by its id in the project, and an administrator can put another issuer
//! or client behind that id. An account belongs to the issuer that identified it: the same subject
//! at another issuer is someone else (OpenID Connect Core §5.7). A token belongs to the issuer that
//! issued it and to the client that it was issued to, and must not be sent to any other.
//!
//! The project records a provider's first registration once the registration changes. Accounts of
//! the first issuer do not store an issuer, like accounts from earlier versions, and tokens from
//! earlier versions do not store a registration: both belong to the first one. For a provider
//! configured by an earlier version, the first registration is its registration at the time of the
//! update.

use serde::{Deserialize, Serialize};

/// The issuer of a provider's accounts, and the project's client there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The issuer; absent for a catalog provider, whose issuer never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The client id; empty for a shared client.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client_id: String,
}
