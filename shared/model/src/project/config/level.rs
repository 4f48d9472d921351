//! Which keys each level of a configuration may hold.

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};
use serde::Serialize;
use utoipa::ToSchema;
use wire::problem::rejected;

/// A level of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Keys below `project`.
    Project,
    /// What may lie in a repository: no secrets, and nothing that differs between deployments.
    Branch,
    /// Everything but what is below `project`.
    Environment,
}

/// What only an environment knows of a provider.
const OF_PROVIDERS: [&str; 7] =
    ["isShared", "clientId", "clientSecret", "facebookConfigId", "microsoftTenantId", "issuer", "authorizationEndpoint"];

impl Level {
    /// Whether a key, or what is below it, may be of this level.
    pub fn holds(self, path: &str) -> bool {
        let is_of_project = path == "project" || path.starts_with("project.");
        match self {
            Self::Project => is_of_project,
            Self::Branch => !is_of_project && !is_of_environment(path),
            Self::Environment => !is_of_project,
        }
    }
}

fn is_of_environment(path: &str) -> bool {
    let names: Vec<&str> = path.split('.').collect();
    match names.as_slice() {
        ["domains", "trustedDomains", ..] | ["emails", "server", ..] => true,
        ["auth", "botChallenge", "provider" | "siteKey" | "secretKey", ..] => true,
        ["auth", "oauth", "providers", _, name, ..] => OF_PROVIDERS.contains(name),
        _ => false,
    }
}

impl<E: DeserializeError> Deserr<E> for Level {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        match String::deserialize_from_value(value, location)?.as_str() {
            "project" => Ok(Self::Project),
            "branch" => Ok(Self::Branch),
            "environment" => Ok(Self::Environment),
            _ => Err(rejected("must be project, branch or environment", location)),
        }
    }
}
