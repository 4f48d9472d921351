//! The catalog of providers. All providers use the same flow and differ only in their data.
//!
//! The endpoints, scopes and fields come from the documentation of the providers. OpenID issuers
//! outside the catalog are discovered through their metadata (`shared/oauth/src/metadata.rs`).

mod includes;
pub mod kinds;
mod known;
pub mod scopes;
#[cfg(test)]
mod scopes_tests;

pub use self::kinds::{Api, ClientAuth, Identity, OfflineAccess, Parameters, Provider, TENANT, TokenCheck};
use self::known::CATALOG;
use self::scopes::Scopes;

/// The provider with this id in the catalog.
pub fn find(id: &str) -> Option<&'static Provider> {
    CATALOG.iter().copied().find(|provider| provider.id == id)
}

/// All providers in the catalog.
pub fn all() -> impl Iterator<Item = &'static Provider> {
    CATALOG.iter().copied()
}

/// The ids of all providers in the catalog.
pub fn ids() -> impl Iterator<Item = &'static str> {
    all().map(|provider| provider.id)
}

/// The relations between the scopes of the provider with this id.
pub fn scopes_of(id: &str) -> Scopes {
    find(id).map_or(Scopes::PLAIN, |known| known.scopes)
}

/// The scopes requested from an OpenID issuer outside the catalog.
pub const OPENID_SCOPE: &str = "openid email profile";
/// The scope and parameters for getting a refresh token from an issuer outside the catalog, if the
/// issuer lists the scope. A flow adds the scope and parameters to link an account or to request
/// additional scopes. Refresh tokens require consent (OpenID Connect Core §11).
pub const OPENID_OFFLINE: OfflineAccess = OfflineAccess { scope: scopes::OFFLINE_ACCESS, parameters: &[("prompt", "consent")] };
