//! Operations that create, transfer and delete projects, and manage their settings and API keys.
//! Other operations return a project's audit log and figures, the public keys and metadata of its
//! token issuer, and the origins of its passkeys.

pub mod api_key_create;
pub mod api_key_list;
pub mod api_key_read;
pub mod api_key_update;
mod api_keys;
pub mod config_override_read;
pub mod config_override_replace;
pub mod config_override_reset_keys;
pub mod config_override_update;
pub mod config_read;
pub mod config_source_delete;
pub mod config_source_read;
mod configuration;
pub mod current_read;
pub mod internal_audit_log;
pub mod internal_create;
pub mod internal_current_delete;
pub mod internal_current_read;
pub mod internal_current_update;
pub mod internal_list;
pub mod internal_metrics;
pub mod internal_provider_delete;
pub mod internal_provider_set;
pub mod internal_signing_key_create;
pub mod internal_signing_keys_read;
pub mod internal_transfer;
mod issuer;
pub mod issuer_metadata_discover;
pub mod issuer_metadata_read;
mod jwks;
pub mod jwks_anonymous_read;
pub mod jwks_read;
pub mod jwks_restricted_read;
mod metrics;
mod owners;
mod providers;
mod published;
pub mod related_origins_read;
pub mod sign_up_rules_stats;
pub mod sign_up_rules_test;

use api::http::Register;

/// Registers every operation of this crate.
pub fn operations(register: &mut impl Register) {
    register.operation(current_read::ROUTE, current_read::handle);
    register.operation(internal_list::ROUTE, internal_list::handle);
    register.operation(internal_create::ROUTE, internal_create::handle);
    register.operation(internal_current_read::ROUTE, internal_current_read::handle);
    register.operation(internal_current_update::ROUTE, internal_current_update::handle);
    register.operation(internal_current_delete::ROUTE, internal_current_delete::handle);
    register.operation(internal_provider_set::ROUTE, internal_provider_set::handle);
    register.operation(internal_provider_delete::ROUTE, internal_provider_delete::handle);
    register.operation(internal_audit_log::ROUTE, internal_audit_log::handle);
    register.operation(config_read::ROUTE, config_read::handle);
    register.operation(config_override_read::ROUTE, config_override_read::handle);
    register.operation(config_override_update::ROUTE, config_override_update::handle);
    register.operation(config_override_replace::ROUTE, config_override_replace::handle);
    register.operation(config_override_reset_keys::ROUTE, config_override_reset_keys::handle);
    register.operation(api_key_list::ROUTE, api_key_list::handle);
    register.operation(api_key_create::ROUTE, api_key_create::handle);
    register.operation(api_key_read::ROUTE, api_key_read::handle);
    register.operation(api_key_update::ROUTE, api_key_update::handle);
    register.operation(jwks_read::ROUTE, jwks_read::handle);
    register.operation(jwks_restricted_read::ROUTE, jwks_restricted_read::handle);
    register.operation(jwks_anonymous_read::ROUTE, jwks_anonymous_read::handle);
    register.operation(issuer_metadata_read::ROUTE, issuer_metadata_read::handle);
    register.operation(issuer_metadata_discover::ROUTE, issuer_metadata_discover::handle);
    register.operation(sign_up_rules_test::ROUTE, sign_up_rules_test::handle);
    register.operation(config_source_read::ROUTE, config_source_read::handle);
    register.operation(config_source_delete::ROUTE, config_source_delete::handle);
    register.operation(internal_transfer::ROUTE, internal_transfer::handle);
    register.operation(internal_metrics::ROUTE, internal_metrics::handle);
    register.operation(sign_up_rules_stats::ROUTE, sign_up_rules_stats::handle);
    register.operation(related_origins_read::ROUTE, related_origins_read::handle);
    register.operation(internal_signing_keys_read::ROUTE, internal_signing_keys_read::handle);
    register.operation(internal_signing_key_create::ROUTE, internal_signing_key_create::handle);
}
