//! The tokens of a provider, with which apps call the provider's API on behalf of a user.

use crypto::seal::Sealed;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A provider's tokens for an account, sealed for the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderTokens {
    /// The access token.
    pub access: Sealed,
    /// The refresh token, if the provider issued one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Sealed>,
    /// When the access token expires; absent unless the provider names a time at most one year
    /// away.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub expires_at: Option<Timestamp>,
    /// The scopes of the tokens as the provider reports them, separated by spaces or commas; if it
    /// reports none, the requested scopes.
    pub scope: String,
    /// Whether the provider has refused the tokens for good. A new OAuth flow with the account
    /// replaces them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_revoked: bool,
    /// While one request refreshes the access token: the time until which no other request may
    /// refresh it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub refreshing_until: Option<Timestamp>,
}
