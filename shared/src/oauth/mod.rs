//! Signing in through other providers: the catalog of providers, PKCE, what is remembered between the two halves of a flow, and the
//! calls to the provider in the second half.

pub mod authorization;
pub mod catalog;
#[cfg(feature = "oauth")]
pub mod exchange;
#[cfg(feature = "oauth")]
pub mod id_token;
#[cfg(feature = "oauth")]
pub mod metadata;
#[cfg(feature = "oauth")]
pub mod outgoing;
pub mod profile;
#[cfg(test)]
mod profile_tests;
