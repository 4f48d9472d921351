//! A project's settings for passkeys.

use serde::{Deserialize, Serialize};
use url::{Host, Url};
use utoipa::ToSchema;

use crate::project::host_pattern::ascii_form;

/// The maximum number of relying party ids of a project.
pub const MAX_RP_IDS: usize = 10;

/// A project's settings for passkeys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PasskeySettings {
    /// Whether users may register passkeys and sign in with them.
    pub enabled: bool,
    /// Domains whose passkeys work on the project's origins, in addition to the host of the page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rp_ids: Vec<String>,
    /// Whether authenticators must verify the user.
    pub user_verification: UserVerification,
    /// Whether a passkey counts as both factors if its authenticator verified the user.
    pub replaces_second_factor: bool,
}

impl PasskeySettings {
    /// Whether a use of a passkey counts as two factors; `is_user_verified` indicates whether the
    /// authenticator verified the user.
    pub fn is_two_factors(&self, is_user_verified: bool) -> bool {
        self.enabled && self.replaces_second_factor && is_user_verified
    }

    /// Whether all settings have their default values.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether authenticators verify the user, for example with a PIN or a fingerprint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum UserVerification {
    /// Authenticators verify the user if they support it.
    #[default]
    Preferred,
    /// Authenticators must verify the user.
    Required,
}

/// Parses a relying party id and returns its ASCII form in lower case. The id must be a domain
/// name, but not a public suffix such as `com` or `co.uk`, because all sites below a public suffix
/// could use its passkeys. `None` if the text is not a valid id.
pub fn parse_rp_id(text: &str) -> Option<String> {
    let name = ascii_form(text.trim());
    let is_domain = Url::parse(&format!("https://{name}")).is_ok_and(|url| {
        matches!(url.host(), Some(Host::Domain(host)) if host == name) && url.origin().ascii_serialization() == format!("https://{name}")
    });
    // The URL standard permits hosts with characters that domain names cannot contain.
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
    (is_domain && is_name && !name.ends_with('.') && psl::domain_str(&name).is_some()).then_some(name)
}
