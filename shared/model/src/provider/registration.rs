//! The origin of a provider's accounts and tokens.
//!
//! A provider is identified by its id in the project, and an administrator can change the issuer or
//! the client behind that id. An account belongs to the issuer that identified it, because the same
//! subject at another issuer is someone else (OpenID Connect Core §5.7). A token belongs to the
//! issuer and to the client for which it was issued, and must not be sent to any other issuer or
//! client.
//!
//! The project records a provider's first registration when the registration changes. Accounts
//! without a stored issuer, including all accounts from earlier versions, belong to the first
//! issuer. Tokens from earlier versions do not have a stored registration and belong to the first
//! registration. For a provider configured by an earlier version, the first registration is its
//! registration at the time of the upgrade.

use serde::{Deserialize, Serialize};

/// The issuer of a provider's accounts, and the project's client at that issuer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The issuer; absent for a catalog provider, whose issuer never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The client id; empty for a shared client.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client_id: String,
}
