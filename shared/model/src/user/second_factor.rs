//! The second factor: sign-ins that wait for it, and whether a user has one or must have one.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;
use wire::id::{SessionId, UserId};

use crate::code::Rejected;
use crate::passkey::Passkey;
use crate::project::ProjectConfig;
use crate::provider::tokens::{NewTokens, ProviderTokens};
use crate::session::{Amr, Session, SessionLimits};
use crate::user::recovery::RecoveryCodes;
use crate::user::restriction::RestrictedReason;
use crate::user::totp::{Authenticator, Totp};
use crate::user::{ProviderAccount, User};

/// How long a sign-in waits for the second factor.
const LIFE: SignedDuration = SignedDuration::from_mins(5);

/// A sign-in that waits for its second factor, stored under the digest of its attempt code.
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
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires_at: Timestamp,
    /// Whether the attempt has been completed.
    pub used: bool,
    /// How the first factor was proved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amr: Vec<Amr>,
    /// What an authorization code determines about the session; absent if the sign-in began without
    /// one, and from attempts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_code: Option<OfCode>,
    /// The provider account with which the sign-in began, if it is still to be added to the user:
    /// whoever proved only the address must not add another first factor. Removed when the attempt
    /// is completed. Absent from attempts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_attach: Option<Attach>,
    /// The provider's tokens for the account with which the sign-in began, to be stored once the
    /// attempt is completed, and then removed here. Absent if there are none, or if they are in
    /// `to_attach`, and from attempts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// What the authorization code that led to a sign-in determines about the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfCode {
    /// The id of the session, which the redeemed code names: if the code is presented again, that
    /// session ends.
    pub session_id: SessionId,
    /// If the flow is to link an account, the limits of the session in which it began; otherwise
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

    /// Whether the user's epochs are still those in which the sign-in began.
    pub fn is_of_epoch(&self, user: &User) -> bool {
        (self.session_epoch, self.credential_epoch) == (user.session_epoch, user.credential_epoch)
    }

    /// Whether a passkey can be the second factor: not if the first factor was a passkey or, in an
    /// attempt of an earlier version, is not known.
    pub fn takes_passkey(&self) -> bool {
        self.amr.iter().any(|amr| *amr != Amr::Pop)
    }

    /// Returns the attempt if it exists, has not expired, is unused, and was not tried too often.
    /// `attempts` is the number of codes and passkey responses sent for it so far, including the
    /// current one.
    pub fn check(attempt: Option<Self>, attempts: u32, now: Timestamp) -> Result<Self, Rejected> {
        let attempt = attempt.ok_or(Rejected::NotFound)?;
        Rejected::of(attempt.expires_at, attempt.used, attempts, now).map_or(Ok(attempt), Err)
    }
}

impl User {
    /// The user's authenticator apps.
    pub fn apps(&self) -> impl Iterator<Item = &Authenticator> {
        self.totp.iter().flat_map(Totp::apps)
    }

    /// Whether sign-ins of the user require a second factor.
    pub fn has_second_factor(&self) -> bool {
        self.totp.is_some()
    }

    /// Whether the user can prove two factors: with an app in addition to the first factor, or with
    /// a passkey whose authenticator verified the user, if the project accepts it as both factors.
    pub fn can_prove_two_factors(&self, config: &ProjectConfig) -> bool {
        let is_both = |passkey: &Passkey| config.passkeys.is_two_factors(passkey.was_user_verified);
        self.has_second_factor() || self.passkeys.iter().any(is_both)
    }

    /// Whether the project requires two factors of the user.
    pub(crate) fn must_prove_two_factors(&self, config: &ProjectConfig) -> bool {
        config.second_factor.is_required(&self.second_factor_teams, &self.permissions, &config.rbac)
    }

    /// Why the user is restricted; `None` if the user is not.
    pub fn restricted_reason(&self, config: &ProjectConfig) -> Option<RestrictedReason> {
        let is_verified = self.primary().is_some_and(|channel| channel.is_verified);
        if self.is_anonymous {
            Some(RestrictedReason::Anonymous)
        } else if config.require_email_verification && !is_verified {
            Some(RestrictedReason::EmailNotVerified)
        } else if self.restriction.is_some() {
            Some(RestrictedReason::RestrictedByAdministrator)
        } else {
            let lacks_factor = !self.can_prove_two_factors(config) && self.must_prove_two_factors(config);
            lacks_factor.then_some(RestrictedReason::SecondFactorRequired)
        }
    }

    /// Why the user is restricted in a session; `None` if the user is not. Beside a user who lacks
    /// a required second factor, this is a user who has one but has not proved it in this session:
    /// a session that began before the user's first app, or, for a user whose passkey counts as two
    /// factors, a session that began with another credential.
    pub fn restricted_reason_in(&self, session: &Session, config: &ProjectConfig) -> Option<RestrictedReason> {
        let lacks_factor = || self.lacks_factor_in(session, config).then_some(RestrictedReason::SecondFactorRequired);
        self.restricted_reason(config).or_else(lacks_factor)
    }

    /// Whether the user has not proved a required second factor in this session but could, whether
    /// or not the user is restricted for another reason.
    pub fn owes_second_factor(&self, session: &Session, config: &ProjectConfig) -> bool {
        self.lacks_factor_in(session, config) && self.can_prove_two_factors(config)
    }

    fn lacks_factor_in(&self, session: &Session, config: &ProjectConfig) -> bool {
        session.proved_one_factor() && self.must_prove_two_factors(config)
    }

    /// Whether the user, who had no authenticator app `before`, has one now.
    pub fn gained_app(&self, before: &Self) -> bool {
        self.has_second_factor() && !before.has_second_factor()
    }

    /// If the project requires two factors of the user, and the user has gained an authenticator
    /// app, ends all sessions but `kept`: the app lifts the restriction that the user had in each
    /// of them. `kept` is the session in which the app was set up; `None` if a server did that.
    pub fn end_sessions_of_one_factor(&mut self, before: &Self, config: &ProjectConfig, kept: Option<SessionId>) {
        // The change may have ended all sessions already, for example if it also sets a password.
        let is_unended = self.session_epoch == before.session_epoch;
        if self.gained_app(before) && is_unended && self.must_prove_two_factors(config) {
            self.end_sessions(kept);
        }
    }

    /// The user's recovery codes.
    pub fn recovery_codes(&self) -> Option<&RecoveryCodes> {
        self.totp.as_ref()?.recovery.as_ref()
    }
}
