//! Permissions of a project: what they are called, what each contains, and who gets which by default (`rbac`).
//!
//! A permission of a team counts within that team, one of the project everywhere. A permission may contain others of its scope, and
//! whoever has it has those. The system's own permissions begin with `$`, contain nothing, and decide what a client may do with a team.
//!
//! Definitions are part of the project, which every request reads, so that what somebody may do is decided without another round trip.
//! What a user or a member has is kept as [`Grant`]s: keys that outlive a change of the permission's id and are never given to another
//! permission. Deleting a definition so takes it from everybody at once, and one that is made later under the same id is nobody's.

pub mod definition;
pub mod rbac;
#[cfg(test)]
mod tests;

pub use definition::{
    Definition, Grant, MAX_DEFINITIONS, MAX_DESCRIPTION, NotAPermission, Occasion, PermissionDefinition, PermissionId, Scope, System,
};
pub use rbac::{Rbac, Refused};
