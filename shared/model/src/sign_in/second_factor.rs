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
    /// Whether the account was created with the first factor.
    pub is_new_user: bool,
    /// The user's `session_epoch` when the sign-in began. If all sessions are ended, this attempt
    /// ends too.
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
    /// The session data in the authorization code that led to the sign-in. Absent if the sign-in
    /// began without a code, and in attempts from earlier versions.
    pub of_code: Option<CodeSession>,
    /// The provider account with which the sign-in began, if it still has to be added to the user.
    /// The account is not added earlier, because someone who has proved only the address must not
    /// add another first factor. Removed when the attempt is completed. Absent in attempts from
    /// earlier versions.
    pub to_attach: Option<Attach>,
    /// The provider's tokens for the account with which the sign-in began. When the attempt is
    /// completed, the tokens are stored for the account and removed from the attempt. Absent if
    /// there are no tokens, if the tokens are in `to_attach`, and in attempts from earlier
    /// versions.
    pub new_tokens: Option<NewTokens>,
}

/// A provider account to add to the user who has verified its email address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attach {
    /// The provider account.
    pub account: ProviderAccount,
    /// The provider's tokens for the account; absent if apps do not get tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<ProviderTokens>,
}

/// The properties of a session that are determined by the authorization code that led to the
/// sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSession {
    /// The id of the session, which the redeemed code contains: if the code is presented again, the
    /// session ends.
    pub session_id: SessionId,
    /// If the flow links an account, the limits of the session in which the flow began; otherwise,
    /// absent.
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

    /// Whether a passkey can be the second factor. A passkey cannot be the second factor if the
    /// first factor was a passkey or, in an attempt from an earlier version, is unknown.
    pub fn takes_passkey(&self) -> bool {
        self.amr.iter().any(|amr| *amr != Amr::Pop)
    }

    /// Returns the attempt if it exists, has not expired, has not been used, and was not tried too
    /// often. `attempts` is the number of codes and passkey responses that were sent for the
    /// attempt, including the current one.
    pub fn check(attempt: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, CodeRefusal> {
        let attempt = attempt.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(attempt.expires_at, attempt.used, attempts, now).map_or(Ok(attempt), Err)
    }
}
