//! Permissions of a project: their ids, which permissions each contains, and which are granted by
//! default (`rbac`).
//!
//! A team permission applies within one team, a project permission everywhere in the project. A
//! permission may contain others of its scope, which its holders then hold too. System permissions,
//! whose ids begin with `$`, contain no others and determine what a client may do with a team.
//!
//! Definitions are part of the project, which every request reads, so authorisation takes no extra
//! round trip. Users and members hold [`Grant`]s: keys that survive a renaming of the permission
//! and are never reused. Deleting a definition therefore revokes the permission from everybody at
//! once, and nobody holds a new permission that is later created under the same id. A permission
//! that a configuration leaves out is not deleted but set aside, until the configuration defines it
//! again, an administrator deletes it, or another permission gets its id.

pub mod definition;
pub mod rbac;
#[cfg(test)]
mod tests;

pub use definition::{
    Definition, Described, Grant, MAX_DEFINITIONS, MAX_DESCRIPTION, NotAPermission, Occasion, PermissionDefinition, PermissionId, Scope,
    System,
};
pub use rbac::{Rbac, Refused};
