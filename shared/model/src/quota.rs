//! The resources that clients can create and that remain until they are removed, each with its
//! maximum number per owner.
//!
//! The table in this file defines all maximum numbers; the enforcing code, the errors and
//! `docs/api/quotas.md` are based on it. Anyone can become a user, and anything that a user can
//! create costs the project something until it is removed. Servers and administrators can create
//! any number of most resources. Exceptions are resources that are part of their owner's item,
//! which every request reads, and sets of API keys, which are listed without pages.
//!
//! Anonymous users have not proved anything, and anyone can create any number of anonymous users.
//! Anonymous users therefore cannot create any of these resources unless the project allows it
//! ([`QuotaSettings::anonymous`]).

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::setting::{SettingRefusal, invalid};

/// A kind of resource that clients can create.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum Quota {
    /// Teams that a user has created.
    Teams,
    /// Teams that a user belongs to.
    Memberships,
    /// Unanswered invitations to a team.
    Invitations,
    /// The contact channels of a user.
    ContactChannels,
    /// The accounts of a user at OAuth providers.
    ProviderAccounts,
    /// The passkeys of a user.
    Passkeys,
    /// The authenticator apps of a user.
    Authenticators,
    /// The remembered devices of a user.
    Devices,
    /// The active API keys of a user.
    UserApiKeys,
    /// The active API keys of a team.
    TeamApiKeys,
    /// The projects owned by a team of the project `internal`.
    Projects,
    /// The sets of API keys of a project, which only administrators create.
    KeySets,
}

/// A row in the table of quotas.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name of the counted resource, worded so that it can follow a number.
    pub what: &'static str,
    /// The owner: `user`, `team` or `project`.
    pub owner: &'static str,
    /// The maximum; for [`Quota::Teams`], the default value of the project's setting.
    pub max: usize,
    /// The error code when the maximum is reached; `None` if the oldest resource is removed to make
    /// room.
    pub code: Option<&'static str>,
    /// How to make room.
    pub room: &'static str,
    /// The operations that create a resource of this kind.
    pub operations: &'static [&'static str],
}

/// The columns of [`Quota::KeySets`].
const KEY_SETS: (&str, &str, usize, &str, &[&str]) = (
    "sets of API keys; at the maximum, a new set replaces the set that ended first",
    "project",
    500,
    "revoke one",
    &["projects-api-key-create"],
);

impl Quota {
    /// All kinds, in the order of the documentation.
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The maximum for each owner.
    pub const fn max(self) -> usize {
        self.row().max
    }

    /// The row of this kind in the table.
    pub const fn row(self) -> Row {
        let (what, owner, max, room, operations): (_, _, _, _, &[&str]) = match self {
            Self::Teams => {
                ("teams that the user has created", "user", 50, "delete one; leaving a team is not enough", &["teams-team-create"])
            }
            Self::Memberships => (
                "team memberships, checked when the user accepts an invitation",
                "user",
                200,
                "leave one",
                &["teams-invitation-accept", "teams-invitation-accept-by-id"],
            ),
            Self::Invitations => (
                "unanswered invitations from members",
                "team",
                100,
                "revoke one, or wait until one is accepted or expires",
                &["teams-invitation-send-code"],
            ),
            Self::ContactChannels => ("contact channels", "user", 50, "remove one", &["users-contact-channel-create", "users-me-update"]),
            Self::ProviderAccounts => (
                "accounts at OAuth providers",
                "user",
                20,
                "unlink one",
                &["auth-oauth-authorize", "auth-oauth-callback", "auth-oauth-callback-form", "auth-oauth-token"],
            ),
            Self::Passkeys => ("passkeys", "user", 20, "delete one", &["auth-passkey-register"]),
            Self::Authenticators => (
                "authenticator apps",
                "user",
                5,
                "remove one",
                &["auth-mfa-authenticator-begin", "auth-mfa-authenticator-verify", "users-me-update"],
            ),
            Self::Devices => ("remembered devices", "user", 50, "the oldest remembered device is forgotten", &["auth-mfa-sign-in"]),
            Self::UserApiKeys => (
                "active API keys, not counting those replaced by a rotation",
                "user",
                25,
                "revoke one",
                &["keys-user-key-create", "keys-user-key-rotate"],
            ),
            Self::TeamApiKeys => (
                "active API keys, not counting those replaced by a rotation",
                "team",
                25,
                "revoke one",
                &["keys-team-key-create", "keys-team-key-rotate"],
            ),
            Self::Projects => (
                "projects",
                "team of `internal`",
                100,
                "delete one, or transfer it to another team",
                &["projects-internal-create", "projects-internal-transfer"],
            ),
            Self::KeySets => KEY_SETS,
        };
        Row { what, owner, max, code: self.code(), room, operations }
    }

    /// The error code when the maximum is reached.
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Teams => Some("TOO_MANY_TEAMS"),
            Self::Memberships => Some("TOO_MANY_TEAM_MEMBERSHIPS"),
            Self::Invitations => Some("TOO_MANY_INVITATIONS"),
            Self::ContactChannels => Some("TOO_MANY_CONTACT_CHANNELS"),
            Self::ProviderAccounts => Some("TOO_MANY_PROVIDER_ACCOUNTS"),
            Self::Passkeys => Some("TOO_MANY_PASSKEYS"),
            Self::Authenticators => Some("TOO_MANY_AUTHENTICATORS"),
            Self::Devices => None,
            Self::UserApiKeys | Self::TeamApiKeys => Some("TOO_MANY_API_KEYS"),
            Self::Projects => Some("TOO_MANY_PROJECTS"),
            Self::KeySets => Some("TOO_MANY_API_KEY_SETS"),
        }
    }
}

/// The project's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaSettings {
    /// How many teams a user can create with client access, from 0 to [`MAX_TEAMS`].
    pub teams_per_user: u16,
    /// Whether anonymous users can create everything that signed-up users can create.
    pub anonymous: bool,
}

/// The maximum number of teams per user that a project can set. The number is limited because the
/// ids of the teams are part of the user's item, which every request by the user reads.
pub const MAX_TEAMS: u16 = 200;

impl Default for QuotaSettings {
    fn default() -> Self {
        Self { teams_per_user: u16::try_from(Quota::Teams.max()).unwrap_or(MAX_TEAMS), anonymous: false }
    }
}

impl QuotaSettings {
    /// Whether these are the default settings.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a user may create any of these resources.
    pub fn admits(&self, is_anonymous: bool) -> bool {
        self.anonymous || !is_anonymous
    }

    /// The maximum for one owner in this project.
    pub fn max(&self, quota: Quota) -> usize {
        if quota == Quota::Teams { usize::from(self.teams_per_user) } else { quota.max() }
    }

    /// Applies a change to the settings.
    pub(crate) fn change(&mut self, teams_per_user: Option<u16>, anonymous: Option<bool>) -> Result<(), SettingRefusal> {
        if teams_per_user.is_some_and(|teams| teams > MAX_TEAMS) {
            return Err(invalid("config.max_teams_per_user", format!("must be from 0 to {MAX_TEAMS}")));
        }
        self.teams_per_user = teams_per_user.unwrap_or(self.teams_per_user);
        self.anonymous = anonymous.unwrap_or(self.anonymous);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row() {
        for quota in Quota::ALL {
            assert_eq!(Quota::ALL.iter().filter(|other| *other == quota).count(), 1, "{quota:?}");
            assert!(quota.max() > 0 && !quota.row().operations.is_empty(), "{quota:?}");
        }
    }

    #[test]
    fn a_project_sets_the_number_of_teams_and_what_anonymous_users_get() {
        let mut settings = QuotaSettings::default();
        assert!(settings.is_default() && !settings.anonymous);
        assert_eq!(settings.max(Quota::Teams), 50);
        assert_eq!(settings.change(Some(7), Some(true)), Ok(()));
        assert_eq!((settings.max(Quota::Teams), settings.max(Quota::Passkeys), settings.anonymous), (7, 20, true));
        assert!(settings.change(Some(MAX_TEAMS + 1), None).is_err());
        assert_eq!(settings.change(None, Some(false)), Ok(()));
        assert_eq!((settings.teams_per_user, settings.anonymous), (7, false));
    }
}
