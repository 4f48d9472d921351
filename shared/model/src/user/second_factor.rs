//! The second factor: the secret of an authenticator app, and sign-ins that wait for its code.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::UserId;

use crate::code::Rejected;
use crate::session::Amr;
use crate::user::User;

/// How long a sign-in waits for its second factor.
const LIFE: SignedDuration = SignedDuration::from_mins(5);

/// A sign-in whose first factor is proved, kept under the digest of its attempt code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MfaAttempt {
    pub user_id: UserId,
    /// Whether the first factor created the account.
    pub is_new_user: bool,
    /// The user's `session_epoch` then: what ends sessions ends this, too.
    pub session_epoch: u64,
    /// Its `credential_epoch` then.
    #[serde(default)]
    pub credential_epoch: u64,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    pub used: bool,
    /// How the first factor was proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
}

impl MfaAttempt {
    pub fn new(user: &User, is_new_user: bool, amr: Vec<Amr>, now: Timestamp) -> Self {
        Self {
            user_id: user.id,
            is_new_user,
            session_epoch: user.session_epoch,
            credential_epoch: user.credential_epoch,
            expires_at: after(now, LIFE),
            used: false,
            amr,
        }
    }

    /// Whether nothing has ended the sign-in since.
    pub fn is_of_epoch(&self, user: &User) -> bool {
        (self.session_epoch, self.credential_epoch) == (user.session_epoch, user.credential_epoch)
    }

    /// Decides on an attempt code; `attempts` counts this one.
    pub fn check(attempt: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, Rejected> {
        let attempt = attempt.ok_or(Rejected::NotFound)?;
        Rejected::of(attempt.expires_at, attempt.used, attempts, now).map_or(Ok(attempt), Err)
    }
}
