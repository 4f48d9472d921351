//! Operations that do not belong to another area: the greeting, the operations that SDKs expect
//! from any installation, and the alias `latest` of the version.

mod analytics_events_batch;
mod component_versions;
mod latest;
mod payments_billing;
mod payments_products;
mod small;
