//! The tokens of a provider, which apps use to call the provider's API on behalf of a user.

use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::provider::account::ProviderAccount;
use crate::provider::catalog;
use crate::provider::registration::Registration;

/// A token that expires within this time must be refreshed.
const MIN_LEFT: SignedDuration = SignedDuration::from_mins(5);
/// How long a token that the provider has issued or accepted is trusted without asking the provider
/// again. For tokens without an expiry, the provider is always asked.
const MAX_UNCONFIRMED: SignedDuration = SignedDuration::from_mins(5);
/// How long the provider's response to a report, or a new short-lived token, is used for later
/// requests. The provider is called only a few times in this interval, no matter how often a client
/// asks.
const MIN_INTERVAL: SignedDuration = SignedDuration::from_secs(30);

/// A provider's tokens for an account, sealed for that account.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderTokens {
    /// The access token.
    pub access: SealedText,
    /// The refresh token, if the provider issued one.
    pub refresh: Option<SealedText>,
    /// The scopes of the refresh token, if the refresh token comes from an earlier flow than the
    /// access token and its scopes differ from [`scope`](Self::scope); otherwise absent.
    pub refresh_scope: Option<String>,
    /// When the access token expires; absent if the provider does not report a time, or a time more
    /// than one year away.
    pub expires_at: Option<Timestamp>,
    /// The scopes of the tokens as reported by the provider, separated by spaces or commas; if not
    /// reported, the requested scopes.
    pub scope: String,
    /// Whether the provider has permanently refused the tokens. A new OAuth flow with the account
    /// replaces refused tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_revoked: bool,
    /// Until when other requests must not refresh the access token, because one request is already
    /// refreshing it; absent if no request is refreshing the token.
    pub refreshing_until: Option<Timestamp>,
    /// The issuer of the tokens, and the client for which they were issued. The tokens are sealed
    /// for this issuer and client. Absent in tokens from earlier versions
    /// ([`registration`](crate::provider::registration)).
    pub registration: Option<Registration>,
    /// When the provider last issued or confirmed the access token; absent in tokens from earlier
    /// versions.
    pub confirmed_at: Option<Timestamp>,
    /// The last report to which the provider responded by issuing or confirming this access token.
    pub last_report: Option<Report>,
}

/// A caller's report that the provider refused an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// When the provider responded to the report.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
    /// Whether the response is used for 30 seconds without asking the provider again. After the
    /// first new token, the provider is asked once more, because it may have revoked all tokens.
    pub is_settled: bool,
}

/// The tokens that a provider has issued in a flow, until they are stored for the account. The
/// tokens are stored when the authorization code is redeemed or, if a second factor is required,
/// once that factor has been proved. The callback alone does not prove who started the flow (RFC
/// 9700 §4.7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTokens {
    /// The account. The tokens are stored for the user's account with the same id at the same
    /// provider.
    pub account: ProviderAccount,
    /// The tokens.
    pub tokens: ProviderTokens,
    /// Whether the tokens replace tokens with more scopes: true if the flow was started to link the
    /// account, or with a `provider_scope`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces_wider: bool,
}

impl ProviderTokens {
    /// Whether this provider's tokens permit everything that the wanted scopes permit. Scopes are
    /// separated by spaces or commas ([`catalog::scopes`]).
    pub fn covers(&self, provider_id: &str, wanted: &str) -> bool {
        catalog::scopes_of(provider_id).cover(&self.scope, wanted)
    }

    /// Whether the access token is valid for at least `min`, or its expiry is unknown.
    pub fn lives(&self, min: SignedDuration, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|end| end > after(now, min))
    }

    /// Whether the access token does not have to be renewed yet. A token is fresh if it is valid
    /// for at least five more minutes. A short-lived token is also fresh if it was issued or
    /// confirmed in the last 30 seconds and is valid for another 30 seconds.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        self.lives(MIN_LEFT, now) || (self.was_confirmed(MIN_INTERVAL, now) && self.lives(MIN_INTERVAL, now))
    }

    /// Whether the provider should be asked about the access token.
    pub fn is_unconfirmed(&self, now: Timestamp) -> bool {
        self.expires_at.is_none() || !self.was_confirmed(MAX_UNCONFIRMED, now)
    }

    fn was_confirmed(&self, within: SignedDuration, now: Timestamp) -> bool {
        self.confirmed_at.is_some_and(|at| after(at, within) > now)
    }

    /// The last report to which the provider responded with this access token, if the response came
    /// in the last 30 seconds.
    pub fn recent_report(&self, now: Timestamp) -> Option<Report> {
        self.last_report.filter(|report| after(report.at, MIN_INTERVAL) > now)
    }

    /// Whether a request is refreshing the tokens at `now`.
    pub fn is_refreshing(&self, now: Timestamp) -> bool {
        self.refreshing_until.is_some_and(|until| until > now)
    }

    /// Whether apps can still get an access token, as far as is known without asking the provider.
    fn is_usable(&self, now: Timestamp) -> bool {
        !self.is_revoked && (self.refresh.is_some() || self.expires_at.is_none_or(|end| end > now))
    }
}

impl NewTokens {
    /// The tokens to store for an account that has the tokens `old`; `None` to keep `old`.
    ///
    /// A plain sign-in does not take away access that the user has granted: usable tokens are kept
    /// if the new tokens lack some of their scopes. Many providers issue a refresh token only once
    /// per grant. If the new tokens do not include a refresh token, the old refresh token is kept
    /// with its scopes, unless another request is using it. Old tokens for another issuer or client
    /// are useless and are always replaced.
    pub fn replacing(&self, old: Option<&ProviderTokens>, now: Timestamp) -> Option<ProviderTokens> {
        let mut new = self.tokens.clone();
        let Some(old) = old.filter(|old| old.is_usable(now) && old.registration == new.registration) else { return Some(new) };
        if !self.replaces_wider && !new.covers(&self.account.provider_id, &old.scope) {
            return None;
        }
        if new.refresh.is_some() || old.refresh.is_none() {
            return Some(new);
        }
        if old.is_refreshing(now) {
            // The refresh token may be replaced at any moment, and the request that replaces it
            // will store tokens that are just as new.
            return self.replaces_wider.then_some(new);
        }
        new.refresh.clone_from(&old.refresh);
        new.refresh_scope = Some(old.refresh_scope.as_ref().unwrap_or(&old.scope)).filter(|scope| **scope != new.scope).cloned();
        Some(new)
    }
}
