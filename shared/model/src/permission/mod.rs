//! Permissions of a project: what they are called, what each contains, and who gets which by default (`rbac`).
//!
//! A permission of a team counts within that team, one of the project everywhere. A permission may contain others of its scope, and
//! whoever has it has those. The system's own permissions begin with `$`, contain nothing, and decide what a client may do with a team.
//!
//! Definitions are part of the project, which every request reads, so that what somebody may do is decided without another round trip.
//! What a user or a member has is kept as [`Grant`]s: keys that outlive a change of the permission's id and are never given to another
//! permission. Deleting a definition so takes it from everybody at once, and one that is made later under the same id is nobody's.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How many permissions of each scope a project defines at most: every request reads them.
pub const MAX_DEFINITIONS: usize = 100;
/// Longest id, in bytes.
const MAX_ID: usize = 64;
/// Longest description, in characters.
pub const MAX_DESCRIPTION: usize = 256;

/// The permissions that decide what a client may do with a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    UpdateTeam,
    DeleteTeam,
    ReadMembers,
    RemoveMembers,
    InviteMembers,
    ManageApiKeys,
}

impl System {
    pub const ALL: [Self; 6] =
        [Self::UpdateTeam, Self::DeleteTeam, Self::ReadMembers, Self::RemoveMembers, Self::InviteMembers, Self::ManageApiKeys];

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::UpdateTeam => ("$update_team", "Change the team"),
            Self::DeleteTeam => ("$delete_team", "Delete the team"),
            Self::ReadMembers => ("$read_members", "See the other members"),
            Self::RemoveMembers => ("$remove_members", "Remove other members"),
            Self::InviteMembers => ("$invite_members", "Invite people"),
            Self::ManageApiKeys => ("$manage_api_keys", "Manage the team's API keys"),
        }
    }

    pub const fn id(self) -> &'static str {
        self.row().0
    }

    fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.id() == id)
    }

    pub fn permission(self) -> PermissionId {
        PermissionId(self.id().to_owned())
    }
}

/// Id of a permission: 1 to 64 of `a-z`, `0-9`, `_` and `:`, or one of the system's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "read_invoices")]
pub struct PermissionId(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_ID} of a-z, 0-9, _ and :, or a permission of the system")]
pub struct NotAPermission;

impl PermissionId {
    pub fn parse(text: &str) -> Result<Self, NotAPermission> {
        let is_custom = (1..=MAX_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b':');
        if is_custom || System::of(text).is_some() { Ok(Self(text.to_owned())) } else { Err(NotAPermission) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is_system(&self) -> bool {
        self.0.starts_with('$')
    }
}

impl fmt::Display for PermissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: deserr::DeserializeError> deserr::Deserr<E> for PermissionId {
    fn deserialize_from_value<V: deserr::IntoValue>(value: deserr::Value<V>, location: deserr::ValuePointerRef<'_>) -> Result<Self, E> {
        let text = String::deserialize_from_value(value, location)?;
        Self::parse(&text).map_err(|error| wire::problem::rejected(&error, location))
    }
}

/// Where a permission counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    Team,
    Project,
}

impl Scope {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Project => "project",
        }
    }
}

/// What a user or a member is given: the key of a definition, or a permission of the system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant(pub String);

/// A permission that a project defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Definition {
    key: u32,
    pub scope: Scope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default)]
    pub contains: BTreeSet<PermissionId>,
}

/// Who is given permissions by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Creating a team.
    TeamCreator,
    /// Joining a team.
    TeamMember,
    /// Signing up.
    SignUp,
}

impl Occasion {
    pub const fn scope(self) -> Scope {
        match self {
            Self::TeamCreator | Self::TeamMember => Scope::Team,
            Self::SignUp => Scope::Project,
        }
    }
}

/// What is given by default, by occasion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Defaults {
    team_creator: BTreeSet<PermissionId>,
    team_member: BTreeSet<PermissionId>,
    sign_up: BTreeSet<PermissionId>,
}

/// The permissions of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rbac {
    definitions: BTreeMap<PermissionId, Definition>,
    /// The key of the latest definition; none is used twice.
    last_key: u32,
    #[serde(default)]
    defaults: Defaults,
    /// Whether members of a team invite to it by what they are given by default; otherwise that takes a permission beyond it.
    #[serde(default = "yes")]
    pub members_invite: bool,
}

/// Projects of before the setting are as if it were on.
fn yes() -> bool {
    true
}

/// Why a change of definitions, or a grant, cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no permission {0}")]
    NotFound(PermissionId),
    #[error("the permission {id} is one of a {}", actual.name())]
    OtherScope { id: PermissionId, expected: Scope, actual: Scope },
    #[error("the contained permission {0} does not exist")]
    ContainedNotFound(PermissionId),
    #[error("the permission {0} exists already")]
    AlreadyExists(PermissionId),
    #[error("the permission {0} would contain itself")]
    Cycle(PermissionId),
    #[error("a project has at most {MAX_DEFINITIONS} permissions of a scope")]
    TooMany,
}

/// A definition, as an administrator reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PermissionDefinition {
    pub id: PermissionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub contained_permission_ids: Vec<PermissionId>,
}

impl Default for Rbac {
    /// `team_admin` may do everything with a team and is given to whoever creates one; `team_member` sees and invites.
    fn default() -> Self {
        let set = |description: &str, contains: &[System]| Definition {
            key: 0,
            scope: Scope::Team,
            description: Some(description.to_owned()),
            contains: contains.iter().map(|system| system.permission()).collect(),
        };
        let (admin, member) = (PermissionId("team_admin".to_owned()), PermissionId("team_member".to_owned()));
        let mut definitions = BTreeMap::new();
        definitions.insert(admin.clone(), Definition { key: 1, ..set("May do everything with a team", &System::ALL) });
        let shared = [System::ReadMembers, System::InviteMembers];
        definitions.insert(member.clone(), Definition { key: 2, ..set("Sees the members of a team and invites", &shared) });
        let defaults = Defaults { team_creator: BTreeSet::from([admin]), team_member: BTreeSet::from([member]), sign_up: BTreeSet::new() };
        Self { definitions, last_key: 2, defaults, members_invite: true }
    }
}

impl Rbac {
    /// The definitions of a scope by id, those of the system among them.
    pub fn list(&self, scope: Scope) -> Vec<PermissionDefinition> {
        let own = self.definitions.iter().filter(|(_, definition)| definition.scope == scope).map(|(id, definition)| view(id, definition));
        let system = System::ALL.into_iter().filter(|_| scope == Scope::Team).map(|system| PermissionDefinition {
            id: system.permission(),
            description: Some(system.row().1.to_owned()),
            contained_permission_ids: Vec::new(),
        });
        let mut all: Vec<_> = own.chain(system).collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    pub fn read(&self, id: &PermissionId, scope: Scope) -> Result<PermissionDefinition, Refused> {
        self.own(id, scope).map(|definition| view(id, definition))
    }

    fn own(&self, id: &PermissionId, scope: Scope) -> Result<&Definition, Refused> {
        match self.definitions.get(id) {
            Some(definition) if definition.scope == scope => Ok(definition),
            Some(definition) => Err(Refused::OtherScope { id: id.clone(), expected: scope, actual: definition.scope }),
            None => Err(Refused::NotFound(id.clone())),
        }
    }

    fn scope_of(&self, id: &PermissionId) -> Option<Scope> {
        if id.is_system() { Some(Scope::Team) } else { self.definitions.get(id).map(|definition| definition.scope) }
    }

    /// Defines a permission.
    pub fn create(
        &mut self,
        id: &PermissionId,
        scope: Scope,
        description: Option<String>,
        contains: BTreeSet<PermissionId>,
    ) -> Result<(), Refused> {
        if id.is_system() || self.definitions.contains_key(id) {
            return Err(Refused::AlreadyExists(id.clone()));
        }
        if self.definitions.values().filter(|definition| definition.scope == scope).count() >= MAX_DEFINITIONS {
            return Err(Refused::TooMany);
        }
        self.check_contained(id, scope, &contains)?;
        self.last_key += 1;
        self.definitions.insert(id.clone(), Definition { key: self.last_key, scope, description, contains });
        Ok(())
    }

    /// Changes a permission; whoever has it keeps it, also under another id.
    pub fn update(
        &mut self,
        id: &PermissionId,
        scope: Scope,
        new_id: Option<&PermissionId>,
        description: Option<Option<String>>,
        contains: Option<BTreeSet<PermissionId>>,
    ) -> Result<(), Refused> {
        let mut definition = self.own(id, scope)?.clone();
        if let Some(contains) = contains {
            self.check_contained(id, scope, &contains)?;
            definition.contains = contains;
        }
        definition.description = description.unwrap_or(definition.description);
        let new_id = new_id.filter(|new| *new != id);
        if let Some(new) = new_id.filter(|new| new.is_system() || self.definitions.contains_key(new)) {
            return Err(Refused::AlreadyExists(new.clone()));
        }
        self.definitions.remove(id);
        if let Some(new) = new_id {
            self.each_reference(|ids| {
                if ids.remove(id) {
                    ids.insert(new.clone());
                }
            });
        }
        self.definitions.insert(new_id.unwrap_or(id).clone(), definition);
        Ok(())
    }

    /// Deletes a permission: nobody has it any more, and nothing contains it.
    pub fn delete(&mut self, id: &PermissionId, scope: Scope) -> Result<(), Refused> {
        self.own(id, scope)?;
        self.definitions.remove(id);
        self.each_reference(|ids| {
            ids.remove(id);
        });
        Ok(())
    }

    fn each_reference(&mut self, change: impl Fn(&mut BTreeSet<PermissionId>)) {
        self.definitions.values_mut().for_each(|definition| change(&mut definition.contains));
        let Defaults { team_creator, team_member, sign_up } = &mut self.defaults;
        [team_creator, team_member, sign_up].into_iter().for_each(change);
    }

    fn check_contained(&self, id: &PermissionId, scope: Scope, contains: &BTreeSet<PermissionId>) -> Result<(), Refused> {
        let missing = contains.iter().find(|contained| *contained != id && self.scope_of(contained) != Some(scope));
        if let Some(missing) = missing {
            return Err(Refused::ContainedNotFound(missing.clone()));
        }
        if self.closure(contains.iter().cloned()).contains(id) { Err(Refused::Cycle(id.clone())) } else { Ok(()) }
    }

    /// The permissions with all that they contain.
    fn closure(&self, ids: impl Iterator<Item = PermissionId>) -> BTreeSet<PermissionId> {
        let (mut all, mut waiting) = (BTreeSet::new(), ids.collect::<Vec<_>>());
        while let Some(id) = waiting.pop() {
            if let Some(definition) = self.definitions.get(&id).filter(|_| !all.contains(&id)) {
                waiting.extend(definition.contains.iter().cloned());
            }
            all.insert(id);
        }
        all
    }

    /// What is given on an occasion.
    pub fn defaults(&self, occasion: Occasion) -> &BTreeSet<PermissionId> {
        match occasion {
            Occasion::TeamCreator => &self.defaults.team_creator,
            Occasion::TeamMember => &self.defaults.team_member,
            Occasion::SignUp => &self.defaults.sign_up,
        }
    }

    /// Sets what is given on an occasion.
    pub fn set_defaults(&mut self, occasion: Occasion, ids: BTreeSet<PermissionId>) -> Result<(), Refused> {
        for id in &ids {
            self.grant(id, occasion.scope())?;
        }
        match occasion {
            Occasion::TeamCreator => self.defaults.team_creator = ids,
            Occasion::TeamMember => self.defaults.team_member = ids,
            Occasion::SignUp => self.defaults.sign_up = ids,
        }
        Ok(())
    }

    /// The grants of an occasion.
    pub fn default_grants(&self, occasion: Occasion) -> BTreeSet<Grant> {
        self.defaults(occasion).iter().filter_map(|id| self.grant(id, occasion.scope()).ok()).collect()
    }

    /// What gives a permission to somebody.
    pub fn grant(&self, id: &PermissionId, scope: Scope) -> Result<Grant, Refused> {
        match (id.is_system(), scope) {
            (true, Scope::Team) => Ok(Grant(id.0.clone())),
            (true, Scope::Project) => Err(Refused::OtherScope { id: id.clone(), expected: scope, actual: Scope::Team }),
            (false, _) => self.own(id, scope).map(|definition| Grant(definition.key.to_string())),
        }
    }

    /// The permissions of these grants; with all that they contain if `recursive`. What the project keeps from members is none of them.
    pub fn granted(&self, grants: &BTreeSet<Grant>, scope: Scope, recursive: bool) -> BTreeSet<PermissionId> {
        let mut granted = self.of_grants(grants, scope, recursive);
        if !self.members_invite && scope == Scope::Team {
            let beyond_defaults = grants.difference(&self.default_grants(Occasion::TeamMember)).cloned().collect();
            let invite = System::InviteMembers.permission();
            if !self.of_grants(&beyond_defaults, scope, true).contains(&invite) {
                granted.remove(&invite);
            }
        }
        granted
    }

    fn of_grants(&self, grants: &BTreeSet<Grant>, scope: Scope, recursive: bool) -> BTreeSet<PermissionId> {
        let system =
            System::ALL.into_iter().map(System::permission).filter(|id| scope == Scope::Team && grants.contains(&Grant(id.0.clone())));
        let defined = self
            .definitions
            .iter()
            .filter(|(_, definition)| definition.scope == scope && grants.contains(&Grant(definition.key.to_string())));
        let direct = system.chain(defined.map(|(id, _)| id.clone()));
        if recursive { self.closure(direct) } else { direct.collect() }
    }

    /// Whether these grants of a member allow what the system asks for.
    pub fn allows(&self, grants: &BTreeSet<Grant>, system: System) -> bool {
        self.granted(grants, Scope::Team, true).contains(&system.permission())
    }
}

fn view(id: &PermissionId, definition: &Definition) -> PermissionDefinition {
    PermissionDefinition {
        id: id.clone(),
        description: definition.description.clone(),
        contained_permission_ids: definition.contains.iter().cloned().collect(),
    }
}
