//! The RSA keys of a project, which sign access tokens if the project uses RS256.
//!
//! ES256 keys are derived from the deployment secret. RSA keys take too long to generate to be
//! derived, so they are stored. Verifiers cache a project's keys, for example AWS's authorizers for
//! two hours. A new key is therefore published three hours before it is first used to sign. An old
//! key stays published until three hours after its successor is first used.

use crypto::rsa_key::RsaPublicKey;
use crypto::seal::SealedText;
use deserr::Deserr;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::ProjectId;

/// How long a key is published before it is first used to sign, and after its successor is first
/// used. The overlap covers the time for which verifiers cache keys, plus the maximum lifetime of
/// an access token (one hour).
const OVERLAP: SignedDuration = SignedDuration::from_hours(3);
/// The minimum time between the creation of two keys of a project, because generating a key takes
/// seconds of processor time.
const MIN_AGE: SignedDuration = SignedDuration::from_mins(1);

/// The algorithm that signs access tokens (RFC 7518 §3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, Deserr)]
#[deserr(rename_all = lowercase)]
pub enum TokenAlgorithm {
    /// ECDSA with the curve P-256: fast, with short tokens.
    #[default]
    #[serde(rename = "ES256")]
    #[deserr(rename = "ES256")]
    Es256,
    /// RSA, for verifiers that do not accept anything else.
    #[serde(rename = "RS256")]
    #[deserr(rename = "RS256")]
    Rs256,
}

impl TokenAlgorithm {
    /// The name of the algorithm in a JWT's header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }

    /// Whether this is the default algorithm.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// An RSA key of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RsaKey {
    /// The public half.
    pub public: RsaPublicKey,
    /// The private half, sealed for the owner [`private_key_owner`].
    #[serde(with = "crypto::seal::packed")]
    pub private: SealedText,
    /// When the key was created.
    pub created_at: Timestamp,
    /// The time from which the key is used to sign.
    pub signs_from: Timestamp,
}

/// The owner under which the private half of a key is sealed.
pub fn private_key_owner(project: &ProjectId, public: &RsaPublicKey) -> String {
    format!("{project}/signing-key/{}", public.id())
}

/// The RSA keys of a project, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RsaKeys {
    keys: Vec<RsaKey>,
}

/// A project's newest key is too new to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooNew {
    /// The time from which the newest key can be replaced.
    pub until: Timestamp,
}

/// The keys that a new key replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// The newest key, which signs until the new key takes over, and stays published until all
    /// tokens signed with it have expired.
    Gradual,
    /// All keys, which are removed immediately, for example because a key has leaked. Tokens signed
    /// with these keys become invalid.
    Immediate,
}

impl RsaKeys {
    /// Checks whether a new key may be added now. A key that is not yet used to sign can only be
    /// replaced immediately.
    pub fn admit(&self, replacement: Replacement, now: Timestamp) -> Result<(), TooNew> {
        let Some(newest) = self.keys.last() else { return Ok(()) };
        let rested = after(newest.created_at, MIN_AGE);
        let until = if replacement == Replacement::Gradual { rested.max(newest.signs_from) } else { rested };
        if now < until { Err(TooNew { until }) } else { Ok(()) }
    }

    /// The keys, including a new one. The first key is used to sign immediately.
    #[must_use]
    pub fn with(&self, public: RsaPublicKey, private: SealedText, replacement: Replacement, now: Timestamp) -> Self {
        let mut keys: Vec<RsaKey> = match replacement {
            Replacement::Gradual => self.published(now).cloned().collect(),
            Replacement::Immediate => Vec::new(),
        };
        let signs_from = if keys.is_empty() { now } else { after(now, OVERLAP) };
        keys.push(RsaKey { public, private, created_at: now, signs_from });
        Self { keys }
    }

    /// The key that is used to sign now; `None` if the project does not have any keys. The first
    /// key is used even before its start time, because the clocks of two processes may differ.
    pub fn signing(&self, now: Timestamp) -> Option<&RsaKey> {
        self.keys.iter().rev().find(|key| key.signs_from <= now).or(self.keys.first())
    }

    /// The keys that are published now, oldest first.
    pub fn published(&self, now: Timestamp) -> impl Iterator<Item = &RsaKey> {
        self.with_ends(now).map(|(key, _)| key)
    }

    /// The published key with this id.
    pub fn verifying(&self, id: &str, now: Timestamp) -> Option<&RsaKey> {
        self.published(now).find(|key| key.public.id() == id)
    }

    /// All keys that are stored, oldest first.
    pub fn stored(&self) -> &[RsaKey] {
        &self.keys
    }

    /// The published keys, each with the time when its publication ends; `None` for a key without a
    /// successor.
    fn with_ends(&self, now: Timestamp) -> impl Iterator<Item = (&RsaKey, Option<Timestamp>)> {
        let ends = self.keys.iter().skip(1).map(|next| Some(after(next.signs_from, OVERLAP))).chain([None]);
        self.keys.iter().zip(ends).filter(move |(_, end)| end.is_none_or(|end| now < end))
    }

    /// The keys in a response to an administrator.
    pub fn view(&self, algorithm: TokenAlgorithm, now: Timestamp) -> SigningKeysView {
        let signing = self.signing(now).map(|key| key.public.id());
        let view = |(key, end): (&RsaKey, Option<Timestamp>)| {
            let id = key.public.id();
            SigningKeyView {
                algorithm: TokenAlgorithm::Rs256,
                is_signing: algorithm == TokenAlgorithm::Rs256 && signing.as_ref() == Some(&id),
                id,
                created_at_millis: key.created_at.as_millisecond(),
                signs_from_millis: key.signs_from.as_millisecond(),
                retires_at_millis: end.map(Timestamp::as_millisecond),
            }
        };
        SigningKeysView { access_token_algorithm: algorithm, keys: self.with_ends(now).map(view).collect() }
    }
}

/// The RSA keys of a project in a response, without their private halves.
#[derive(Debug, Serialize, ToSchema)]
pub struct SigningKeysView {
    /// The algorithm that signs access tokens of users without restrictions; change it with `PATCH
    /// /internal/projects/current`.
    pub access_token_algorithm: TokenAlgorithm,
    /// The RSA keys in the project's key set, oldest first: at most three.
    pub keys: Vec<SigningKeyView>,
}

/// An RSA key in a response.
#[derive(Debug, Serialize, ToSchema)]
pub struct SigningKeyView {
    /// The `kid` in the key set and in the header of tokens.
    #[schema(example = "5f0c8b2a91de")]
    pub id: String,
    /// The algorithm.
    pub algorithm: TokenAlgorithm,
    /// Whether the key is used to sign new access tokens now.
    pub is_signing: bool,
    /// When the key was created, in milliseconds since the Unix epoch.
    pub created_at_millis: i64,
    /// The time from which the key can be used to sign, in milliseconds since the Unix epoch.
    pub signs_from_millis: i64,
    /// When the key is removed from the key set, in milliseconds since the Unix epoch; `null` if
    /// the key does not have a successor.
    pub retires_at_millis: Option<i64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(n: &str) -> (RsaPublicKey, SealedText) {
        (serde_json::from_value(json!({ "n": n, "e": "AQAB" })).expect("a key"), SealedText::from_text(String::new()))
    }

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
    }

    fn with(keys: &RsaKeys, n: &str, replacement: Replacement, hours: i64) -> RsaKeys {
        let (public, private) = key(n);
        keys.with(public, private, replacement, at(hours))
    }

    #[test]
    fn a_clock_that_is_behind_signs_with_the_first_key() {
        let keys = with(&RsaKeys::default(), "one", Replacement::Gradual, 1);
        let ids = |hours| keys.signing(at(hours)).map(|key| key.public.id());
        assert_eq!(ids(0), ids(1));
        assert!(ids(0).is_some() && RsaKeys::default().signing(at(0)).is_none());
    }

    #[test]
    fn a_key_is_published_three_hours_longer_than_its_tokens_are_signed() {
        let keys = with(&with(&RsaKeys::default(), "one", Replacement::Gradual, 0), "two", Replacement::Gradual, 10);
        let published = |hours| keys.published(at(hours)).count();
        assert_eq!([10, 13, 15, 16].map(published), [2, 2, 2, 1]);
        let third = with(&keys, "three", Replacement::Gradual, 14);
        assert_eq!((third.stored().len(), third.published(at(16)).count()), (3, 2));
        assert_eq!(with(&third, "four", Replacement::Immediate, 15).stored().len(), 1);
    }

    #[test]
    fn a_key_that_does_not_sign_yet_is_replaced_only_at_once() {
        let keys = with(&with(&RsaKeys::default(), "one", Replacement::Gradual, 0), "two", Replacement::Gradual, 10);
        assert_eq!(keys.admit(Replacement::Gradual, at(12)), Err(TooNew { until: at(13) }));
        assert_eq!(keys.admit(Replacement::Gradual, at(13)), Ok(()));
        assert_eq!(keys.admit(Replacement::Immediate, at(12)), Ok(()));
        assert_eq!(keys.admit(Replacement::Immediate, at(10)), Err(TooNew { until: after(at(10), MIN_AGE) }));
    }
}
