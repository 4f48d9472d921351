//! Permissions of a project: their ids, the permissions that each one contains, and the default
//! permissions (`rbac`).
//!
//! A team permission applies within one team, and a project permission applies in the entire
//! project. A permission may contain permissions of the same scope; its holders then have those
//! permissions too. System permissions, whose ids begin with `$`, do not contain any permissions
//! and determine what a client may do with a team.
//!
//! Definitions are part of the project, which every request reads, so authorization does not cost
//! an extra round trip. Users and members hold [`Grant`]s. A grant is a key that is never reused
//! and remains the same if the permission is renamed. Deleting a definition therefore revokes the
//! permission from all holders at once, and a new permission with the same id has no holders at
//! first. A permission that is missing from a configuration is set aside, not deleted. A permission
//! that was set aside is restored if the configuration defines it again, and discarded if an
//! administrator deletes it or another permission gets its id.

pub mod definition;
pub mod rbac;
#[cfg(test)]
mod tests;

pub use definition::{
    Definition, Grant, MAX_DEFINITIONS, MAX_DESCRIPTION, Occasion, PermissionDefinition, PermissionId, PermissionRefusal,
    PermissionSettings, Scope, System,
};
pub use rbac::{Rbac, Refusal};
