//! Signing in through other providers: the catalog of providers, PKCE, what is remembered between the two halves of a flow, and the
//! calls to the provider in the second half.

pub mod exchange;
pub mod id_token;
pub mod metadata;
