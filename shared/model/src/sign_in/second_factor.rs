//! Sign-ins that wait for the second factor.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{SessionId, UserId};

use crate::code::CodeRefusal;
use crate::provider::account::ProviderAccount;
use crate::provider::tokens::{NewTokens, ProviderTokens};
use crate::session::{Amr, SessionLimits};
use crate::user::User;

/// How long a sign-in waits for the second factor.
const LIFE: SignedDuration = SignedDuration::from_mins(5);

/// A sign-in that waits for its second factor, stored under the digest of its attempt code.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MfaAttempt {
    /// The user who is signing in.
    pub user_id: UserId,
    /// Whether the first factor created the account.
    pub is_new_user: bool,
    /// The user's `session_epoch` when the sign-in began: ending all sessions also ends this
    /// attempt.
    pub session_epoch: u64,
    /// The user's `credential_epoch` when the sign-in began.
    #[serde(default)]
    pub credential_epoch: u64,
    /// When the attempt expires.
    pub expires_at: Timestamp,
    /// Whether the attempt has been completed.
    pub used: bool,
    /// How the first factor was proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
    /// The session data of the authorization code that led to the sign-in; absent if the sign-in
    /// began without a code, and in attempts from earlier versions.
    pub of_code: Option<CodeSession>,
    /// The provider account that the sign-in began with, if it is yet to be added to the user:
    /// someone who proved only the address must not add another first factor. Removed when the
    /// attempt is completed. Absent in attempts from earlier versions.
    pub to_attach: Option<Attach>,
    /// The provider's tokens for the account that the sign-in began with; stored, and removed here,
    /// when the attempt is completed. Absent if there are none, if they are in `to_attach`, and in
    /// attempts from earlier versions.
    pub new_tokens: Option<NewTokens>,
}

/// A provider account to add to the user who has verified its email address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The provider account.
    pub account: ProviderAccount,
    /// The provider's tokens for the account; absent if apps get none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<ProviderTokens>,
}

/// The properties of a session that follow from the authorization code that led to the sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSession {
    /// The id of the session, which is in the redeemed code: if the code is presented again, the
    /// session ends.
    pub session_id: SessionId,
    /// If the flow links an account, the limits of the session that began it; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<SessionLimits>,
}

impl MfaAttempt {
    /// A new attempt that begins at `now`.
    pub fn new(user: &User, is_new_user: bool, amr: Vec<Amr>, now: Timestamp) -> Self {
        Self {
            user_id: user.id,
            is_new_user,
            session_epoch: user.session_epoch,
            credential_epoch: user.credential_epoch,
            expires_at: after(now, LIFE),
            used: false,
            amr,
            of_code: None,
            to_attach: None,
            new_tokens: None,
        }
    }

    /// Whether the user's epochs are the same as when the sign-in began.
    pub fn is_of_epoch(&self, user: &User) -> bool {
        (self.session_epoch, self.credential_epoch) == (user.session_epoch, user.credential_epoch)
    }

    /// Whether a passkey can be the second factor: not if the first factor was a passkey or, in an
    /// attempt from an earlier version, is unknown.
    pub fn takes_passkey(&self) -> bool {
        self.amr.iter().any(|amr| *amr != Amr::Pop)
    }

    /// Returns the attempt if it exists, has not expired, is unused, and was not tried too often.
    /// `attempts` is the number of codes and passkey responses sent for it, including the current
    /// one.
    pub fn check(attempt: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, CodeRefusal> {
        let attempt = attempt.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(attempt.expires_at, attempt.used, attempts, now).map_or(Ok(attempt), Err)
    }
}
