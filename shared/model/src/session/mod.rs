//! Sessions: what a refresh token stands for.

pub mod token;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{SessionId, UserId};

use crate::place::Place;
use crate::project::SessionSettings;
use crate::user::User;

/// The longest life of a session that a server may ask for: 367 days.
pub const MAX_LIFE: SignedDuration = SignedDuration::from_hours(367 * 24);

/// A session. The refresh token itself is stored only as the key of its claim, as a digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub last_used_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// The user's `session_epoch` when the session began: ending all sessions is one increment there.
    pub epoch: u64,
    #[serde(default)]
    pub is_impersonation: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// When its user was last proved to be there; absent on sessions of older versions: when they began.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "jiff::fmt::serde::timestamp::millisecond::optional")]
    pub authenticated_at: Option<Timestamp>,
    /// How.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
}

/// How a user was proved to be there: a value of RFC 8176 §2, or `fed` for an account at a provider, for which it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Amr {
    Pwd,
    /// A code of an authenticator app, or one that an email brought.
    Otp,
    Mfa,
    Fed,
}

impl Session {
    /// Begins a session of `user` now.
    pub fn start(user: &User, settings: &SessionSettings, place: Option<Place>, entropy: &Entropy, now: Timestamp) -> Self {
        Self {
            id: SessionId::from(entropy.ordered_uuid(now)),
            user_id: user.id,
            created_at: now,
            last_used_at: now,
            expires_at: after(now, settings.life()),
            epoch: user.session_epoch,
            is_impersonation: false,
            place,
            authenticated_at: Some(now),
            amr: Vec::new(),
        }
    }

    /// Whether the user was proved to be there at most `age` ago.
    pub fn is_fresh(&self, age: SignedDuration, now: Timestamp) -> bool {
        now < after(self.authenticated_at.unwrap_or(self.created_at), age)
    }

    /// Whether a credential that the user has since then proves the user in this session. What was added after the last proof may have
    /// been added by whoever stole the session.
    pub fn is_proved_by(&self, since: Option<Timestamp>) -> bool {
        since.is_none_or(|since| since <= self.authenticated_at.unwrap_or(self.created_at))
    }

    /// Whether the user has not ended all sessions since this one began.
    pub fn is_unended(&self, user: &User) -> bool {
        self.epoch == user.session_epoch || user.kept_session == Some(self.id)
    }

    /// When a session must have been used last to live.
    pub fn idle_since(settings: &SessionSettings, now: Timestamp) -> Timestamp {
        now.checked_sub(settings.idle()).unwrap_or(Timestamp::MIN)
    }

    /// Whether the session still gives access tokens.
    pub fn is_live(&self, user: &User, settings: &SessionSettings, now: Timestamp) -> bool {
        self.is_unended(user) && now < self.expires_at && now < after(self.last_used_at, settings.idle())
    }
}
