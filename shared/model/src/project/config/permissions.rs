//! The permissions that a configuration defines (`rbac.permissions`), and references to them.
//!
//! A permission that the configuration no longer defines is only set aside ([`Rbac::configured`]):
//! if the configuration defines it again, its former holders get it back. Only the operations on
//! definitions delete a permission together with its grants.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use wire::problem::Problems;

use crate::permission::{MAX_DEFINITIONS, MAX_DESCRIPTION, Occasion, PermissionId, PermissionSettings, Rbac, Refusal, Scope};
use crate::project::config::flat::Flat;
use crate::project::config::parts::{Entries, parts};
use crate::project::config::paths::REQUIRED_OF_PERMISSIONS;

pub(crate) const PERMISSIONS: &str = "rbac.permissions";
const DEFAULTS: &str = "rbac.defaultPermissions";
const CONTAINED: &str = "containedPermissionIds";
/// The events at which default permissions are granted, by their names in a configuration.
const OCCASIONS: [(&str, Occasion); 3] =
    [("teamCreator", Occasion::TeamCreator), ("teamMember", Occasion::TeamMember), ("signUp", Occasion::SignUp)];
/// The maximum number of permissions that are set aside, which bounds the size of a project.
const MAX_IDLE: usize = 2 * MAX_DEFINITIONS;

/// The path of a definition.
pub fn definition_path(id: &PermissionId) -> String {
    format!("{PERMISSIONS}.{id}")
}

parts! {
    Permission {
        description: Option<String>,
        scope: Option<Scope>,
        contained_permission_ids: Entries<bool>,
    }
}

/// The definitions as a part of a configuration.
pub(crate) fn to_map(rbac: &Rbac) -> Map<String, Value> {
    let definition = |scope: Scope| {
        rbac.list(scope).into_iter().filter(|definition| !definition.id.is_system()).map(move |definition| {
            let contained: Map<_, _> = definition.contained_permission_ids.iter().map(|id| (id.to_string(), Value::Bool(true))).collect();
            let mut value = json!({ "scope": scope, CONTAINED: contained });
            if let Some(description) = definition.description {
                value["description"] = json!(description);
            }
            (definition.id.to_string(), value)
        })
    };
    definition(Scope::Team).chain(definition(Scope::Project)).collect()
}

/// The permissions of a project after applying a configuration that defines exactly `permissions`.
pub(crate) fn configured(rbac: Rbac, permissions: Entries<Permission>) -> Result<Rbac, Problems> {
    let mut described = BTreeMap::new();
    for (text, permission) in permissions.0 {
        let path = format!("{PERMISSIONS}.{text}");
        let id = PermissionId::parse(&text).map_err(|error| Problems::one(&path, error))?;
        described.insert(id, permission.described(&path)?);
    }
    let rbac = rbac.configured(described).map_err(|(id, refused)| problem(&id, &refused))?;
    if let Some(id) = rbac.idle().nth(MAX_IDLE) {
        let message = format!(
            "must not leave out more permissions: at most {MAX_IDLE} are kept for users who were granted them. Define some of these \
             again, such as {id}, or delete some with the operations on permission definitions"
        );
        return Err(Problems::one(PERMISSIONS, message));
    }
    Ok(rbac)
}

impl Permission {
    fn described(self, path: &str) -> Result<PermissionSettings, Problems> {
        if self.description.as_ref().is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
            return Err(Problems::one(&format!("{path}.description"), format!("must have at most {MAX_DESCRIPTION} characters")));
        }
        let scope = self.scope.ok_or_else(|| Problems::one(&format!("{path}.scope"), "is required"))?;
        let contained = self.contained_permission_ids.0.into_iter().filter(|(_, is_contained)| *is_contained);
        let parse =
            |(id, _): (String, bool)| PermissionId::parse(&id).map_err(|error| Problems::one(&format!("{path}.{CONTAINED}.{id}"), error));
        Ok(PermissionSettings { scope, description: self.description, contains: contained.map(parse).collect::<Result<_, _>>()? })
    }
}

/// A problem with the definition of a permission.
fn problem(id: &PermissionId, refused: &Refusal) -> Problems {
    let path = definition_path(id);
    match refused {
        Refusal::OtherScope { actual, .. } => {
            let message = format!("must be {}: to give the permission another scope, delete the permission first", actual.name());
            Problems::one(&format!("{path}.scope"), message)
        }
        Refusal::ContainedNotFound(contained) => {
            Problems::one(&format!("{path}.{CONTAINED}.{contained}"), "must be a permission of the same scope")
        }
        Refusal::TooMany => Problems::one(PERMISSIONS, refused),
        _ => Problems::one(&path, refused),
    }
}

/// Removes references to permissions that the configuration does not define in the right scope,
/// possibly because another level no longer defines them. References set by the change itself are
/// kept, so that they are rejected later.
pub(crate) fn drop_references(all: &mut Flat, written: &Flat) {
    let team = Scope::Team.name();
    let scope = |(path, value): (&String, &Value)| {
        let (id, field) = path.strip_prefix(PERMISSIONS)?.strip_prefix('.')?.split_once('.')?;
        (field == "scope").then(|| Some((id.to_owned(), value.as_str()?.to_owned())))?
    };
    let scopes: BTreeMap<String, String> = all.iter().filter_map(scope).collect();
    let system: BTreeSet<PermissionId> = Rbac::system().collect();
    let has_scope = |id: &str, wanted: &str| {
        let is_system = PermissionId::parse(id).is_ok_and(|id| system.contains(&id));
        if is_system { wanted == team } else { scopes.get(id).is_some_and(|scope| scope == wanted) }
    };
    let is_fit = |path: &str| {
        if let Some((owner, id)) =
            path.strip_prefix(PERMISSIONS).and_then(|rest| rest.strip_prefix('.')?.split_once(&format!(".{CONTAINED}.")))
        {
            return scopes.get(owner).is_some_and(|scope| has_scope(id, scope));
        }
        if let Some(id) = path.strip_prefix(REQUIRED_OF_PERMISSIONS).and_then(|rest| rest.strip_prefix('.')) {
            return has_scope(id, Scope::Project.name());
        }
        let of_occasion = path.strip_prefix(DEFAULTS).and_then(|rest| rest.strip_prefix('.')?.split_once('.'));
        of_occasion.is_none_or(|(name, id)| {
            OCCASIONS.iter().find(|(known, _)| *known == name).is_none_or(|(_, occasion)| has_scope(id, occasion.scope().name()))
        })
    };
    all.retain(|path, _| written.contains_key(path) || is_fit(path));
}

/// The references to a permission in the values of a level. Each reference is a member of an object
/// and has the permission's id as its name. A reference is returned as the path of the object and
/// the value of the member.
pub(crate) fn references(values: &Flat, id: &PermissionId) -> Vec<(String, Value)> {
    let end = format!(".{id}");
    let is_reference = |object: &str| {
        object == REQUIRED_OF_PERMISSIONS
            || object.strip_prefix(DEFAULTS).is_some_and(|rest| rest.matches('.').count() == 1)
            || (object.starts_with(&format!("{PERMISSIONS}.")) && object.ends_with(&format!(".{CONTAINED}")))
    };
    let of = |(path, value): (&String, &Value)| {
        let object = path.strip_suffix(&end)?;
        is_reference(object).then(|| (object.to_owned(), value.clone()))
    };
    values.iter().filter_map(of).collect()
}
