//! The users of a project who need a second factor, and how long a remembered device replaces the
//! second factor.

use std::collections::BTreeSet;

use deserr::Deserr;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::TeamId;

use crate::permission::{Grant, PermissionId, Rbac, Scope};
use crate::setting::{SettingRefusal, invalid, set};

/// The maximum number of entries in `required_of_teams`, and in `required_of_permissions`. The
/// number is limited because every refresh, and every sign-in of a user without a second factor,
/// reads one membership per listed team.
const MAX_ENTRIES: usize = 20;
/// The maximum number of days for which a device is remembered.
const MAX_DAYS: u16 = 90;

/// The settings for second factors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SecondFactorSettings {
    /// The number of days for which a remembered device replaces the second factor, at most 90; 0
    /// for never.
    pub remember_device_days: u16,
    /// Whether all users are restricted until they have a second factor.
    pub required_of_everyone: bool,
    /// Teams whose members are restricted until they have a second factor.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub required_of_teams: BTreeSet<TeamId>,
    /// Permissions in the project whose holders are restricted until they have a second factor.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub required_of_permissions: BTreeSet<Grant>,
}

/// Changes to the settings for second factors; absent fields keep their values.
#[wire::optional]
#[derive(Default, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SecondFactorInput {
    /// How many days a device replaces the second factor after the user has proved that factor on
    /// the device: 1 to 90, or 0 for never.
    pub remember_device_days: Option<u16>,
    /// Whether all users are restricted until they have a second factor.
    pub required_of_everyone: Option<bool>,
    /// The teams whose members are restricted until they have a second factor; replaces the entire
    /// list.
    pub required_of_teams: Option<Vec<TeamId>>,
    /// The permissions in the project whose holders are restricted until they have a second factor;
    /// replaces the entire list.
    pub required_of_permissions: Option<Vec<PermissionId>>,
}

/// The settings for second factors in responses to administrators.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SecondFactorView {
    /// The number of days for which a remembered device replaces the second factor; 0 for never.
    pub remember_device_days: u16,
    /// Whether all users are restricted until they have a second factor.
    pub required_of_everyone: bool,
    /// The teams whose members are restricted until they have a second factor.
    pub required_of_teams: BTreeSet<TeamId>,
    /// The permissions in the project whose holders are restricted until they have a second factor.
    pub required_of_permissions: BTreeSet<PermissionId>,
}

impl SecondFactorSettings {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How long a device is remembered; `None` if devices are never remembered.
    pub fn memory(&self) -> Option<SignedDuration> {
        let days = i64::from(self.remember_device_days);
        (days > 0).then(|| SignedDuration::from_hours(24 * days))
    }

    /// Whether a user with these memberships and these permissions in the project must have a
    /// second factor.
    pub fn is_required(&self, teams: &BTreeSet<TeamId>, permissions: &BTreeSet<Grant>, rbac: &Rbac) -> bool {
        self.required_of_everyone
            || !self.required_of_teams.is_disjoint(teams)
            || (!self.required_of_permissions.is_empty() && {
                let held = rbac.granted(permissions, Scope::Project, true);
                !self.permissions(rbac).is_disjoint(&held)
            })
    }

    /// The ids of the permissions in `required_of_permissions` that the project still defines.
    pub fn permissions(&self, rbac: &Rbac) -> BTreeSet<PermissionId> {
        rbac.granted(&self.required_of_permissions, Scope::Project, false)
    }
}

impl SecondFactorView {
    /// The settings of a project in a response.
    pub fn of(settings: &SecondFactorSettings, rbac: &Rbac) -> Self {
        Self {
            remember_device_days: settings.remember_device_days,
            required_of_everyone: settings.required_of_everyone,
            required_of_teams: settings.required_of_teams.clone(),
            required_of_permissions: settings.permissions(rbac),
        }
    }
}

impl SecondFactorInput {
    /// The settings with these changes applied, or the first problem found.
    pub(crate) fn check(self, old: &SecondFactorSettings, rbac: &Rbac) -> Result<SecondFactorSettings, SettingRefusal> {
        let path = |field: &str| format!("config.second_factor.{field}");
        let mut new = old.clone();
        if self.remember_device_days.is_some_and(|days| days > MAX_DAYS) {
            return Err(invalid(path("remember_device_days"), "must be from 0 to 90 days"));
        }
        set(self.remember_device_days, &mut new.remember_device_days);
        set(self.required_of_everyone, &mut new.required_of_everyone);
        set(self.required_of_teams.map(|teams| teams.into_iter().collect()), &mut new.required_of_teams);
        if let Some(ids) = self.required_of_permissions {
            let grants = ids.iter().map(|id| rbac.grant(id, Scope::Project)).collect::<Result<_, _>>();
            let wrong =
                |_| invalid(path("required_of_permissions"), "must be permissions that the project defines, with the scope project");
            new.required_of_permissions = grants.map_err(wrong)?;
        }
        for (field, count) in
            [("required_of_teams", new.required_of_teams.len()), ("required_of_permissions", new.required_of_permissions.len())]
        {
            if count > MAX_ENTRIES {
                return Err(invalid(path(field), format!("must have at most {MAX_ENTRIES} entries")));
            }
        }
        Ok(new)
    }
}
