//! The catalog of providers. All use the same flow and differ only in their data.
//!
//! Endpoints, scopes and fields come from the providers' documentation. Other OpenID issuers are
//! discovered through their metadata (`shared/oauth/src/metadata.rs`).

mod includes;
pub mod kinds;
mod known;
pub mod scopes;
#[cfg(test)]
mod scopes_tests;

pub use self::kinds::{Api, ClientAuth, Identity, OfflineAccess, Parameters, Provider, TENANT, TokenCheck};
use self::known::CATALOG;
use self::scopes::Scopes;

/// The provider of the catalog with this id.
pub fn find(id: &str) -> Option<&'static Provider> {
    CATALOG.iter().copied().find(|provider| provider.id == id)
}

/// All providers of the catalog.
pub fn all() -> impl Iterator<Item = &'static Provider> {
    CATALOG.iter().copied()
}

/// The ids of all providers of the catalog.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|provider| provider.id)
}

/// The relations between the scopes of the provider with this id.
pub fn scopes_of(id: &str) -> Scopes {
    find(id).map_or(Scopes::PLAIN, |known| known.scopes)
}

/// The scopes requested from an OpenID issuer outside the catalog.
pub const OPENID_SCOPE: &str = "openid email profile";
/// The scope and parameters that a flow adds to link an account or to ask for additional scopes, at
/// an issuer outside the catalog that lists the scope: refresh tokens require consent (OpenID
/// Connect Core §11).
pub const OPENID_OFFLINE: OfflineAccess = OfflineAccess { scope: scopes::OFFLINE_ACCESS, parameters: &[("prompt", "consent")] };
