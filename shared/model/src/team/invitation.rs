//! Invitations to teams: whoever has the code of one, or reads its list, may accept it if the address is a verified one of theirs.

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::id::{InvitationId, TeamId};

use crate::code::Rejected;
use crate::email::Email;
use crate::project::ProjectConfig;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// How long an invitation may be accepted.
pub const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// An invitation, as the table holds it: once under its id, and once under its code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub id: InvitationId,
    pub team_id: TeamId,
    pub email: Email,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// Where its code is.
    pub nonce_digest: Digest,
    #[serde(default)]
    pub used: bool,
}

/// Why a user may not accept an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAcceptable {
    Restricted(RestrictedReason),
    /// It was sent to somebody else.
    OtherAddress,
}

impl Invitation {
    /// Decides on the code of an invitation; `attempts` counts this one.
    pub fn check(invitation: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, Rejected> {
        let invitation = invitation.ok_or(Rejected::NotFound)?;
        Rejected::of(invitation.expires_at, invitation.used, attempts, now).map_or(Ok(invitation), Err)
    }

    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at && !self.used
    }

    /// Whether this user may accept it.
    pub fn may_be_accepted_by(&self, user: &User, config: &ProjectConfig) -> Result<(), NotAcceptable> {
        if let Some(reason) = user.restricted_reason(config) {
            return Err(NotAcceptable::Restricted(reason));
        }
        let is_own = user.channel_of(&self.email).is_some_and(|channel| channel.is_verified);
        if is_own { Ok(()) } else { Err(NotAcceptable::OtherAddress) }
    }
}
