//! Permissions of a project: their ids, the permissions that each contains, and the default
//! permissions (`rbac`).
//!
//! A team permission applies within one team, a project permission everywhere in the project. A
//! permission may contain others of its scope, which its holders then have too. System permissions,
//! with ids that begin with `$`, contain no others and determine what a client may do with a team.
//!
//! Definitions are part of the project, which every request reads, so authorization costs no extra
//! round trip. Users and members hold [`Grant`]s: keys that survive a renaming of the permission
//! and are never reused. So deleting a definition revokes the permission from all holders at once,
//! and a new permission with the same id starts without any. A permission missing from a
//! configuration is not deleted but set aside, until the configuration defines it again, an
//! administrator deletes it, or another permission gets its id.

pub mod definition;
pub mod rbac;
#[cfg(test)]
mod tests;

pub use definition::{
    Definition, Grant, MAX_DEFINITIONS, MAX_DESCRIPTION, Occasion, PermissionDefinition, PermissionId, PermissionRefusal,
    PermissionSettings, Scope, System,
};
pub use rbac::{Rbac, Refusal};
