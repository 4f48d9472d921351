//! Permissions of server keys: the areas of the API that a key may read or write.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A permission, written `<area>:read` or `<area>:write`. Permission to write does not include
/// permission to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyPermission {
    /// The area of the API, which is the first part of an operation's name, such as `projects` in
    /// `projects-current-read`.
    pub area: KeyArea,
    /// Whether the operation reads or writes.
    pub action: KeyAction,
}

/// An area of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum KeyArea {
    /// Sign-in, sessions and OAuth.
    Auth,
    /// The welcome page, the health check and all operations that do not belong to a named area.
    Edge,
    /// Emails.
    Emails,
    /// API keys of users and teams.
    Keys,
    /// Grants to OAuth clients.
    Openid,
    /// The project and its settings.
    Projects,
    /// Teams.
    Teams,
    /// Users.
    Users,
    /// Webhooks.
    Webhooks,
}

/// The operations that a permission includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum KeyAction {
    /// Operations with the method GET.
    Read,
    /// Operations with any other method.
    Write,
}

/// The text is not a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an area ({}), a colon, and read or write", KeyArea::VARIANTS.join(", "))]
pub struct PermissionRefusal;

impl KeyPermission {
    /// Every permission.
    pub fn all() -> impl Iterator<Item = Self> {
        let parsed = |area: &&str, action: &&str| format!("{area}:{action}").parse().ok();
        KeyArea::VARIANTS.iter().flat_map(move |area| KeyAction::VARIANTS.iter().filter_map(move |action| parsed(area, action)))
    }
}

impl Display for KeyPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", <&str>::from(self.area), <&str>::from(self.action))
    }
}

impl FromStr for KeyPermission {
    type Err = PermissionRefusal;

    fn from_str(text: &str) -> Result<Self, PermissionRefusal> {
        let (area, action) = text.split_once(':').ok_or(PermissionRefusal)?;
        Ok(Self { area: area.parse().map_err(|_| PermissionRefusal)?, action: action.parse().map_err(|_| PermissionRefusal)? })
    }
}

impl From<KeyPermission> for String {
    fn from(permission: KeyPermission) -> Self {
        permission.to_string()
    }
}

impl TryFrom<String> for KeyPermission {
    type Error = PermissionRefusal;

    fn try_from(text: String) -> Result<Self, PermissionRefusal> {
        text.parse()
    }
}

wire::deserr_from!(KeyPermission, String, |text| text.parse::<Self>());
