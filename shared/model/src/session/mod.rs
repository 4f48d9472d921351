//! Sessions, each with a refresh token.

pub mod cli;
pub mod client;
pub mod client_name;
pub mod refresh_token;
pub mod resource_scopes;
pub mod rotation;
pub mod scope;
mod second_factor;
pub mod token;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::clock::after;
use wire::entropy::Entropy;
use wire::id::{SessionId, UserId};

use crate::place::Place;
use crate::project::SessionSettings;
use crate::session::client::ClientSession;
use crate::user::User;

/// The maximum lifetime of a session that a server may request: 367 days.
pub const MAX_LIFE: SignedDuration = SignedDuration::from_hours(367 * 24);

/// A session. The refresh token of a session is stored only as a digest, in the token's claim.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The id of the session.
    pub id: SessionId,
    /// The user who is signed in.
    pub user_id: UserId,
    /// When the session began.
    pub created_at: Timestamp,
    /// When an access token was last issued for the session.
    pub last_used_at: Timestamp,
    /// When the session ends.
    pub expires_at: Timestamp,
    /// The user's `session_epoch` when the session began. Raising the epoch ends all sessions of
    /// the user except `kept_session`.
    pub epoch: u64,
    /// Whether another person uses the session on behalf of the user.
    #[serde(default)]
    pub is_impersonation: bool,
    /// Where the session was last used; absent if unknown.
    pub place: Option<Place>,
    /// When the user last authenticated in the session. Absent in sessions from earlier versions,
    /// for which `created_at` counts instead.
    pub authenticated_at: Option<Timestamp>,
    /// How the user last authenticated. Includes [`Amr::Mfa`] if the user has ever proved several
    /// factors in the session. Empty if the user has not proved anything, as in a session created
    /// by a server, and in sessions from earlier versions until the user proves two factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
    /// The OAuth client that the user signed in to; absent in sessions of the project's apps.
    pub client: Option<Box<ClientSession>>,
}

/// The limits for a session that is derived from another session.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLimits {
    /// When the original session ends; the derived session does not end later.
    pub expires_at: Timestamp,
    /// Whether the original session is an impersonation; if so, the derived session is an
    /// impersonation too.
    pub is_impersonation: bool,
    /// When the user last authenticated in the original session; the derived session does not
    /// record a later time.
    pub authenticated_at: Timestamp,
}

/// An authentication method: a value of RFC 8176 §2, or `fed` for a provider account, which RFC
/// 8176 does not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Amr {
    /// A password.
    Pwd,
    /// A code from an authenticator app, a recovery code, or an emailed code or link.
    Otp,
    /// A passkey, which proves possession of a key.
    Pop,
    /// More than one factor.
    Mfa,
    /// An account at a provider.
    Fed,
}

impl Session {
    /// Starts a session of `user` at `now`.
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
            client: None,
        }
    }

    /// The limits for sessions that are derived from this session.
    pub fn limits(&self) -> SessionLimits {
        SessionLimits {
            expires_at: self.expires_at,
            is_impersonation: self.is_impersonation,
            authenticated_at: self.authenticated_at.unwrap_or(self.created_at),
        }
    }

    /// The session within the limits of the session from which it is derived.
    #[must_use]
    pub fn within(self, limits: &SessionLimits) -> Self {
        Self {
            expires_at: self.expires_at.min(limits.expires_at),
            is_impersonation: self.is_impersonation || limits.is_impersonation,
            authenticated_at: Some(self.authenticated_at.unwrap_or(self.created_at).min(limits.authenticated_at)),
            ..self
        }
    }

    /// Whether the user last authenticated less than `age` ago.
    pub fn is_fresh(&self, age: SignedDuration, now: Timestamp) -> bool {
        now < after(self.authenticated_at.unwrap_or(self.created_at), age)
    }

    /// Whether a credential that was set up at `since` may be used to reauthenticate in this
    /// session; `None` counts as earlier than every session. Someone who stole the session may have
    /// added a credential after the last authentication.
    pub fn is_proved_by(&self, since: Option<Timestamp>) -> bool {
        since.is_none_or(|since| since <= self.authenticated_at.unwrap_or(self.created_at))
    }

    /// Whether the user has proved only one factor. False if the user has not proved anything, as
    /// in a session created by a server, which vouches for the user.
    pub fn proved_one_factor(&self) -> bool {
        !self.amr.is_empty() && !self.amr.contains(&Amr::Mfa)
    }

    /// The authentication methods of the session after another authentication. The methods in `amr`
    /// replace the earlier methods, except [`Amr::Mfa`], which a session keeps. A session without
    /// methods, for which a server vouches, stays without methods when the user proves only one
    /// factor.
    #[must_use]
    pub fn proved_again(&self, amr: &[Amr]) -> Vec<Amr> {
        if self.amr.is_empty() && !amr.contains(&Amr::Mfa) {
            return Vec::new();
        }
        let kept = self.amr.iter().filter(|old| **old == Amr::Mfa && !amr.contains(old));
        amr.iter().chain(kept).copied().collect()
    }

    /// Whether the session began after the user's sessions were last ended, or was kept when they
    /// were ended.
    pub fn is_unended(&self, user: &User) -> bool {
        self.epoch == user.session_epoch || user.kept_session == Some(self.id)
    }

    /// A session is live at `now` only if it was last used after this time.
    pub fn idle_since(settings: &SessionSettings, now: Timestamp) -> Timestamp {
        now.checked_sub(settings.idle()).unwrap_or(Timestamp::MIN)
    }

    /// Whether access tokens are still issued for the session.
    pub fn is_live(&self, user: &User, settings: &SessionSettings, now: Timestamp) -> bool {
        self.is_unended(user) && now < self.expires_at && now < after(self.last_used_at, settings.idle())
    }
}
