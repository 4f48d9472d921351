//! The second factor: whether a user has one, and whether a user must have one.

use wire::id::SessionId;

use crate::project::ProjectConfig;
use crate::user::User;
use crate::user::passkey::Passkey;
use crate::user::recovery::RecoveryCodes;
use crate::user::restriction::RestrictedReason;
use crate::user::totp::{Authenticator, Totp};

impl User {
    /// The user's authenticator apps.
    pub fn apps(&self) -> impl Iterator<Item = &Authenticator> {
        self.totp.iter().flat_map(Totp::apps)
    }

    /// Whether the user needs a second factor to sign in.
    pub fn has_second_factor(&self) -> bool {
        self.totp.is_some()
    }

    /// Whether the user can prove two factors: with an app in addition to the first factor, or with
    /// a passkey that counts as both factors in this project.
    pub fn can_prove_two_factors(&self, config: &ProjectConfig) -> bool {
        let is_both = |passkey: &Passkey| config.passkeys.is_two_factors(passkey.was_user_verified);
        self.has_second_factor() || self.passkeys.iter().any(is_both)
    }

    /// Whether the project requires two factors of the user.
    pub(crate) fn must_prove_two_factors(&self, config: &ProjectConfig) -> bool {
        config.second_factor.is_required(&self.second_factor_teams, &self.permissions, &config.rbac)
    }

    /// Why the user is restricted; `None` if the user is not restricted.
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

    /// Whether the user has an authenticator app now but did not have one in `before`.
    pub fn gained_app(&self, before: &Self) -> bool {
        self.has_second_factor() && !before.has_second_factor()
    }

    /// Ends all sessions except `kept` if the project requires two factors of the user and the user
    /// has gained an authenticator app. Otherwise, setting up the app would lift the restriction in
    /// all sessions. `kept` is the session in which the app was set up; `None` if a server set it
    /// up.
    pub fn end_sessions_of_one_factor(&mut self, before: &Self, config: &ProjectConfig, kept: Option<SessionId>) {
        // The change may already have ended all sessions, for example if it also sets a password.
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
