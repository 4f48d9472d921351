//! Projects, their settings and their public keys.

mod api_keys;
mod config;
mod current_read;
mod deletion;
mod effects;
mod internal_current_read;
mod internal_current_update;
mod jwks_aliases;
mod jwks_read;
mod owned;
mod providers;

pub(crate) const CURRENT: &str = "/api/v1/projects/current";
pub(crate) const INTERNAL: &str = "/api/v1/internal/projects/current";
