//! Where the accounts and the tokens of a provider come from.
//!
//! A provider is known by its id in the project, behind which an administrator can put another
//! issuer or another client. An account belongs to the issuer that identified it: the same subject
//! at another issuer is somebody else (OpenID Connect Core §5.7). A token belongs to the issuer and
//! the client that it was issued to, and must not be sent to any other.
//!
//! The project records the first registration of each provider whose registration has changed.
//! Accounts of the first issuer name no issuer, as those of earlier versions, and tokens of earlier
//! versions name no registration: both belong to the first one. A provider that an earlier version
//! configured has, as its first registration, the one that it had at the update.

use serde::{Deserialize, Serialize};

/// The issuer of a provider's accounts, and the client of the project there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The issuer; absent for a provider of the catalog, whose issuer never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The client id; empty for a shared client.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client_id: String,
}
