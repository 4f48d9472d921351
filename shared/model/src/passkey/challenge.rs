//! Challenges: random bytes that an authenticator signs, so that its response is accepted only
//! once.

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::UserId;

use crate::code::{Code, CodeRefusal};
use crate::text::bytes::Bytes;
use crate::user::User;

/// How long a challenge is valid: 60 seconds for the browser's prompt, plus five seconds for the
/// requests.
const LIFE: SignedDuration = SignedDuration::from_secs(65);
/// How long an autofill challenge is valid. The challenge is created with the form, but used only
/// when the user picks a passkey.
const AUTOFILL_LIFE: SignedDuration = SignedDuration::from_mins(10);

/// A challenge, as stored in the table. Nobody types the code of a challenge, so failed attempts
/// are not counted.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// 32 random bytes.
    pub bytes: Bytes,
    /// The user who registers a passkey, with the credential epoch; absent if the challenge is for
    /// using a passkey.
    pub registrant: Option<Registrant>,
    /// If the challenge is for the second factor of a sign-in, the digest of that sign-in's attempt
    /// code.
    pub attempt: Option<Digest>,
    /// When the challenge expires.
    pub expires_at: Timestamp,
    /// Whether a correct response has redeemed the challenge.
    pub used: bool,
}

/// The user who registers a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registrant {
    /// The user.
    pub user_id: UserId,
    /// The user's credential epoch when the challenge was created.
    pub epoch: u64,
}

impl Challenge {
    /// A challenge for the registration of a passkey by `user`.
    pub fn for_registration(user: &User, entropy: &Entropy, now: Timestamp) -> Self {
        let registrant = Registrant { user_id: user.id, epoch: user.credential_epoch };
        Self { registrant: Some(registrant), ..Self::for_authentication(false, entropy, now) }
    }

    /// A challenge for the use of a passkey.
    pub fn for_authentication(is_autofill: bool, entropy: &Entropy, now: Timestamp) -> Self {
        let life = if is_autofill { AUTOFILL_LIFE } else { LIFE };
        let bytes = Bytes(entropy.bytes::<32>().to_vec());
        Self { bytes, registrant: None, attempt: None, expires_at: after(now, life), used: false }
    }

    /// Restricts the challenge to the second factor of the sign-in with this attempt code; `None`
    /// for a challenge that is not for a second factor.
    #[must_use]
    pub fn for_attempt(self, attempt: Option<&Code>) -> Self {
        Self { attempt: attempt.map(Code::digest), ..self }
    }

    /// Whether the challenge is for the second factor of the sign-in with this attempt code. With
    /// `None`, whether the challenge is for something other than a second factor.
    pub fn is_for_attempt(&self, attempt: Option<&Code>) -> bool {
        self.attempt == attempt.map(Code::digest)
    }

    /// Returns the challenge if it exists and has neither expired nor been redeemed.
    pub fn check(challenge: Option<Self>, now: Timestamp) -> Result<Self, CodeRefusal> {
        let challenge = challenge.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(challenge.expires_at, challenge.used, 0, now).map_or(Ok(challenge), Err)
    }

    /// Whether `user` may register a passkey with this challenge, which must have been created for
    /// this user in the same credential epoch.
    pub fn is_of(&self, user: &User) -> bool {
        self.registrant == Some(Registrant { user_id: user.id, epoch: user.credential_epoch })
    }
}
