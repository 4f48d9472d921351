//! Passkeys: WebAuthn credentials for signing in. In this module, § refers to sections of Web
//! Authentication Level 3 (W3C).
//!
//! Passkeys are stored as part of the user, so that all sign-in rules are checked against a single
//! state ([`crate::user::passkey`], [`crate::user::passkeys`]). A passkey works only for the
//! relying party for which it was created. [`relying_party`] determines which relying parties and
//! origins a project accepts.

pub mod aaguid;
pub mod ceremony;
pub mod challenge;
pub mod options;
pub mod relying_party;
#[cfg(test)]
mod tests;
pub mod view;
