//! Projects, with tests about settings, sign-up rules, API keys, metrics, owners, deletion, public
//! keys of tokens, and related origins of passkeys.

mod api_keys;
mod config;
mod config_levels;
mod config_permissions;
mod config_schema;
mod config_secrets;
mod config_source_delete;
mod config_source_read;
mod current_read;
mod deletion;
mod effects;
mod internal_current_read;
mod internal_current_update;
mod internal_metrics;
mod internal_transfer;
mod issuer_metadata;
mod jwks_aliases;
mod jwks_read;
mod large_deletions;
mod metrics_counting;
mod one_provider;
mod owned;
mod owning_teams;
mod providers;
mod recreated;
mod related_origins_read;
mod sign_up_rules_stats;
mod sign_up_rules_test;
mod signing_keys;

use serde_json::{Value, json};

pub(crate) const CURRENT: &str = "/api/v1/projects/current";
pub(crate) const INTERNAL: &str = "/api/v1/internal/projects/current";

/// The configuration of a new project, as any client can read it.
fn public_config() -> Value {
    json!({
        "sign_up_enabled": true, "credential_enabled": true, "magic_link_enabled": true, "passkey_enabled": false,
        "client_team_creation_enabled": false, "client_user_deletion_enabled": false, "allow_user_api_keys": false,
        "allow_team_api_keys": false, "allow_localhost": true, "enabled_oauth_providers": [], "domains": [],
        "bot_challenge": {
            "provider": "off", "site_key": null, "sign_up": "when-suspicious", "send_sign_in_code": "when-suspicious",
            "oauth": "when-suspicious",
        },
    })
}
