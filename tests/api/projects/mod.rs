//! Projects: their settings, sign-up rules, API keys, metrics, owners and deletion, the public keys
//! of their tokens, and the related origins of their passkeys.

mod api_keys;
mod config;
mod config_levels;
mod config_permissions;
mod config_schema;
mod config_source_delete;
mod config_source_read;
mod current_read;
mod deletion;
mod effects;
mod internal_current_read;
mod internal_current_update;
mod internal_metrics;
mod internal_transfer;
mod jwks_aliases;
mod jwks_read;
mod metrics_counting;
mod owned;
mod providers;
mod related_origins_read;
mod sign_up_rules_stats;
mod sign_up_rules_test;

pub(crate) const CURRENT: &str = "/api/v1/projects/current";
pub(crate) const INTERNAL: &str = "/api/v1/internal/projects/current";
