//! Calls to OAuth providers: discovery, exchange of codes, refresh of tokens, and verification of
//! ID tokens.

#![warn(missing_docs)]

pub mod exchange;
pub mod id_token;
pub mod metadata;
