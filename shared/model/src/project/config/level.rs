//! The keys that can be set at each level of a configuration.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::project::config::flat::is_at_or_below;

/// A level of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The keys `project` and `sourceOfTruth`, and the keys below them.
    Project,
    /// Keys that may be kept in a repository, because they are neither secret nor specific to a
    /// deployment.
    Branch,
    /// All keys except those of the project level. Values of this level override the values of the
    /// branch.
    Environment,
}

/// The keys of a provider that are set at the environment level.
const OF_PROVIDERS: [&str; 8] =
    ["isShared", "clientId", "clientSecret", "facebookConfigId", "microsoftTenantId", "appleBundles", "issuer", "authorizationEndpoint"];

impl Level {
    /// Whether the key at a path can be set at this level. If the key's value is an object, the
    /// keys in the object must be checked too, because some may belong to another level.
    pub fn holds(self, path: &str) -> bool {
        let is_of_project = ["project", "sourceOfTruth"].iter().any(|area| is_at_or_below(path, area));
        match self {
            Self::Project => is_of_project,
            Self::Branch => !is_of_project && !is_of_environment(path),
            Self::Environment => !is_of_project,
        }
    }
}

/// The areas of a configuration for features that Gatelet does not support. Values in these areas
/// are stored and returned but have no effect, so that one file can serve several services.
const WITHOUT_EFFECT: [&str; 7] = ["analytics", "apps", "customDashboards", "dataVault", "dbSync", "payments", "sourceOfTruth"];

/// The keys for managed email domains, which Gatelet does not support. The keys belong to an area
/// that Gatelet otherwise supports.
const MANAGED_DOMAINS: [&str; 2] = ["emails.server.managedSubdomain", "emails.server.managedSenderLocalPart"];

/// Whether the value at a path has no effect.
pub(crate) fn is_without_effect(path: &str) -> bool {
    WITHOUT_EFFECT.iter().chain(&MANAGED_DOMAINS).any(|key| is_at_or_below(path, key))
}

fn is_of_environment(path: &str) -> bool {
    let names: Vec<&str> = path.split('.').collect();
    match names.as_slice() {
        ["domains", "allowLocalhost" | "trustedDomains", ..] | ["emails", "server", ..] => true,
        ["analytics" | "customDashboards", ..] | ["payments", "testMode", ..] => true,
        ["auth", "passkey", "rpIds", ..] => true,
        ["auth", "botChallenge", "provider" | "siteKey" | "secretKey", ..] => true,
        ["auth", "oauth", "providers", _, name, ..] => OF_PROVIDERS.contains(name),
        _ => false,
    }
}

wire::deserr_from!(Level, String, |text| match text.as_str() {
    "project" => Ok(Self::Project),
    "branch" => Ok(Self::Branch),
    "environment" => Ok(Self::Environment),
    _ => Err("must be project, branch or environment"),
});
