//! Refresh tokens of OAuth clients, which rotate (RFC 9700 §4.14.2): each use replaces the token.
//!
//! A token consists of 116 characters: the ids of the user and the session (32 hexadecimal digits
//! each), 26 characters shared by all tokens of the session, and 26 characters unique to this
//! token. The shared part is also a secret, so anyone who knows the shared part once had a token of
//! the session. A token with the right shared part and an outdated unique part has therefore been
//! used twice, by the client and by a thief. If the shared part were not secret, anyone who knows
//! the session's id could end the session.
//!
//! For 30 seconds, a replaced token still returns the same successor, because a response may be
//! lost, or two tabs may refresh at the same time.

use crypto::digest::Digest;
use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{ProjectId, SessionId, UserId};

/// How long a replaced token still returns its successor.
pub const GRACE: SignedDuration = SignedDuration::from_secs(30);

/// The length of an id, in characters.
const ID: usize = 32;
/// The length of each secret part, in characters: 130 random bits.
const SECRET: usize = 26;

/// The state of a session's refresh tokens.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The digest of the part that all tokens of the session share.
    pub shared: Digest,
    /// The digest of the current token.
    pub digest: Digest,
    /// The digest of the previous token; absent before the first use.
    pub previous: Option<Digest>,
    /// The current token, sealed for the owner [`token_owner`], for a client that still uses the
    /// previous token; absent before the first use.
    pub successor: Option<SealedText>,
    /// When the current token replaced the previous one; absent before the first use.
    pub rotated_at: Option<Timestamp>,
}

/// A refresh token of a client.
#[derive(Debug, Clone)]
pub struct RefreshToken {
    text: SecretString,
    /// The id of the user in the token.
    pub user_id: UserId,
    /// The id of the session in the token.
    pub session_id: SessionId,
}

/// The result of using a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// The token is current and is now replaced.
    Current,
    /// The token was replaced in the last 30 seconds, so the caller gets the same successor.
    Again(SealedText),
    /// The token was replaced earlier, so the token or its successor has been stolen.
    Replayed,
    /// The token never belonged to the session.
    Unknown,
}

/// The owner under which a successor is sealed.
pub fn token_owner(project: &ProjectId, session: SessionId) -> String {
    format!("{project}/client-session/{session}")
}

fn part(entropy: &Entropy) -> String {
    entropy.code().expose_secret()[..SECRET].to_owned()
}

impl RefreshToken {
    fn new(user_id: UserId, session_id: SessionId, shared: &str, own: &str) -> Self {
        let text = format!("{}{}{shared}{own}", user_id.uuid().as_simple(), session_id.uuid().as_simple());
        Self { text: text.into(), user_id, session_id }
    }

    /// The first token of a session, and the resulting state.
    pub fn first(user: UserId, session: SessionId, entropy: &Entropy) -> (Self, Rotation) {
        let token = Self::new(user, session, &part(entropy), &part(entropy));
        let rotation =
            Rotation { shared: Digest::of(token.shared()), digest: token.digest(), previous: None, successor: None, rotated_at: None };
        (token, rotation)
    }

    /// The token that replaces this one.
    #[must_use]
    pub fn next(&self, entropy: &Entropy) -> Self {
        Self::new(self.user_id, self.session_id, self.shared(), &part(entropy))
    }

    /// Parses a token; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let id = |from: usize| Uuid::try_parse(text.get(from..from + ID)?).ok();
        let is_character = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        let is_token = text.len() == 2 * ID + 2 * SECRET && text.bytes().all(is_character);
        let (user, session) = id(0).zip(id(ID)).filter(|_| is_token)?;
        Some(Self { text: text.to_owned().into(), user_id: user.into(), session_id: session.into() })
    }

    /// The token.
    pub fn text(&self) -> &SecretString {
        &self.text
    }

    fn shared(&self) -> &str {
        &self.text.expose_secret()[2 * ID..2 * ID + SECRET]
    }

    /// The digest of the entire token.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text.expose_secret())
    }
}

fn is_same(one: &Digest, other: &Digest) -> bool {
    one.as_str().as_bytes().ct_eq(other.as_str().as_bytes()).into()
}

impl Rotation {
    /// The result of using this token.
    pub fn used(&self, token: &RefreshToken, now: Timestamp) -> Use {
        let digest = token.digest();
        if is_same(&digest, &self.digest) {
            return Use::Current;
        }
        let is_previous = self.previous.as_ref().is_some_and(|previous| is_same(&digest, previous));
        let is_recent = self.rotated_at.is_some_and(|at| now < after(at, GRACE));
        match &self.successor {
            Some(successor) if is_previous && is_recent => Use::Again(successor.clone()),
            _ if is_same(&Digest::of(token.shared()), &self.shared) => Use::Replayed,
            _ => Use::Unknown,
        }
    }

    /// The state after `next`, which is sealed in `successor`, has replaced the current token.
    #[must_use]
    pub fn replaced(&self, next: &RefreshToken, successor: SealedText, now: Timestamp) -> Self {
        Self {
            shared: self.shared.clone(),
            digest: next.digest(),
            previous: Some(self.digest.clone()),
            successor: Some(successor),
            rotated_at: Some(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first() -> (RefreshToken, Rotation) {
        RefreshToken::first(Uuid::from_u128(1).into(), Uuid::from_u128(2).into(), &Entropy::system())
    }

    fn sealed(text: &str) -> SealedText {
        SealedText::from_text(text.to_owned())
    }

    #[test]
    fn a_token_is_read_back_and_nothing_else_is_one() {
        let (token, _) = first();
        let text = token.text().expose_secret().to_owned();
        let read = RefreshToken::parse(&text).expect("a token");
        assert_eq!((read.user_id, read.session_id, text.len()), (token.user_id, token.session_id, 116));
        for other in [String::new(), text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), text.replacen("00", "é", 1)] {
            assert!(RefreshToken::parse(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_replaced_token_gives_the_same_successor_for_thirty_seconds() {
        let (now, entropy) = (Timestamp::UNIX_EPOCH, Entropy::system());
        let (one, rotation) = first();
        assert_eq!(rotation.used(&one, now), Use::Current);
        let two = one.next(&entropy);
        let rotation = rotation.replaced(&two, sealed("two"), now);
        assert_eq!(rotation.used(&two, now), Use::Current);
        assert_eq!(rotation.used(&one, now), Use::Again(sealed("two")));
        assert_eq!(rotation.used(&one, after(now, GRACE)), Use::Replayed);
        let three = two.next(&entropy);
        let rotation = rotation.replaced(&three, sealed("three"), now);
        assert_eq!(rotation.used(&two, now), Use::Again(sealed("three")));
        assert_eq!(rotation.used(&one, now), Use::Replayed, "its successor was used");
    }

    #[test]
    fn who_knows_only_the_session_cannot_make_it_look_replayed() {
        let (token, rotation) = first();
        let (other, _) = RefreshToken::first(token.user_id, token.session_id, &Entropy::system());
        assert_eq!(rotation.used(&other, Timestamp::UNIX_EPOCH), Use::Unknown);
    }
}
