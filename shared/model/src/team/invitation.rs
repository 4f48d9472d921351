//! Invitations to teams. With the invitation's code, a user may accept an invitation that was sent
//! to one of the user's verified addresses. If the address is confirmed
//! ([`Channel::is_confirmed`](crate::user::Channel::is_confirmed)), the user may also accept the
//! invitation from the list of the user's invitations. An attacker who adds a stranger's address to
//! an account and tricks the stranger into opening a link must not see or use invitations to that
//! address.

use crypto::digest::Digest;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::id::{InvitationId, TeamId, UserId};

use crate::code::CodeRefusal;
use crate::email::Email;
use crate::user::User;
use crate::user::restriction::RestrictedReason;

/// How long an invitation can be accepted.
pub const LIFE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// An invitation, stored in the table under its id and under its code.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The id of the invitation.
    pub id: InvitationId,
    /// The team to join.
    pub team_id: TeamId,
    /// When the team was created; absent in invitations from earlier versions that did not store
    /// this time.
    pub team_created_at: Option<Timestamp>,
    /// The invited address.
    pub email: Email,
    /// When the invitation expires.
    pub expires_at: Timestamp,
    /// The member who sent the invitation with client access. The invitation is valid only while
    /// this user is a member of the team, so that removed members cannot return with their own
    /// invitations. Absent if a server or an administrator sent the invitation, and in invitations
    /// from earlier versions that did not store the sender.
    pub invited_by: Option<UserId>,
    /// The `owner_epoch` of the inviting member when the invitation was sent. The invitation is
    /// valid only in this epoch, because an invitation from an earlier epoch may have been sent by
    /// an intruder. The value is 0 if there is no such member, and in invitations from earlier
    /// versions that did not store the epoch.
    #[serde(default, skip_serializing_if = "crate::user::is_zero")]
    pub sender_epoch: u64,
    /// The digest of the code's nonce, which is the key of the stored code.
    pub nonce_digest: Digest,
    /// Whether the invitation was accepted.
    #[serde(default)]
    pub used: bool,
}

/// How a user accepts an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptanceWay {
    /// With the emailed code, which only the recipient of the email knows.
    Code,
    /// From the list of the user's invitations.
    List,
}

/// Why a user may not accept an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptanceRefusal {
    /// The user is restricted.
    Restricted(RestrictedReason),
    /// The invitation was not sent to a verified address of the user or, for an acceptance without
    /// the code, to a confirmed address.
    OtherAddress,
}

impl Invitation {
    /// Returns the invitation if its code is valid; `attempts` is the number of times that the
    /// caller has tried the code, including the current attempt.
    pub fn check(invitation: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, CodeRefusal> {
        let invitation = invitation.ok_or(CodeRefusal::NotFound)?;
        CodeRefusal::of(invitation.expires_at, invitation.used, attempts, now).map_or(Ok(invitation), Err)
    }

    /// Whether the invitation can still be accepted.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at && !self.used
    }

    /// Checks whether this user may accept the invitation. `restricted` is the reason why the user
    /// is restricted, if any.
    pub fn may_be_accepted_by(
        &self,
        user: &User,
        by: AcceptanceWay,
        restricted: Option<RestrictedReason>,
    ) -> Result<(), AcceptanceRefusal> {
        if let Some(reason) = restricted {
            return Err(AcceptanceRefusal::Restricted(reason));
        }
        let is_own = user.channel_of(&self.email).is_some_and(|channel| match by {
            AcceptanceWay::Code => channel.is_verified,
            AcceptanceWay::List => channel.is_confirmed(),
        });
        if is_own { Ok(()) } else { Err(AcceptanceRefusal::OtherAddress) }
    }
}
