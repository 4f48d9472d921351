//! The permissions that a project defines, and the default permissions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::permission::definition::{
    Defaults, Definition, Grant, IdlePermission, MAX_DEFINITIONS, Occasion, PermissionDefinition, PermissionId, PermissionSettings, Scope,
    System,
};

/// The permissions of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rbac {
    definitions: BTreeMap<PermissionId, Definition>,
    /// Permissions that the configuration no longer defines; they are not in `definitions`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    idle: BTreeMap<PermissionId, IdlePermission>,
    /// The key of the latest definition; keys are never reused.
    last_key: u32,
    #[serde(default)]
    defaults: Defaults,
    /// Whether the default permissions let team members invite people to their team. If `false`,
    /// members need another permission that contains `$invite_members`.
    #[serde(default = "yes")]
    pub members_invite: bool,
}

/// The value of `members_invite` in projects stored before this setting existed.
fn yes() -> bool {
    true
}

/// Why a change to the definitions or a grant is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The project does not define a permission with this id.
    #[error("the project does not define the permission {0}")]
    NotFound(PermissionId),
    /// The permission has a different scope than expected.
    #[error("the permission {id} has the scope {}: use the operation for that scope", actual.name())]
    OtherScope {
        /// The permission.
        id: PermissionId,
        /// The scope that the operation requires.
        expected: Scope,
        /// The scope of the permission.
        actual: Scope,
    },
    /// The definition would contain a permission that does not exist in its scope.
    #[error("the contained permission {0} does not exist in this scope")]
    ContainedNotFound(PermissionId),
    /// Another permission already has this id.
    #[error("the permission {0} already exists")]
    AlreadyExists(PermissionId),
    /// The permission would directly or indirectly contain itself.
    #[error("the permission {0} would contain itself")]
    Cycle(PermissionId),
    /// The project would have more than [`MAX_DEFINITIONS`] permissions of this scope.
    #[error("a project can define at most {MAX_DEFINITIONS} permissions per scope")]
    TooMany,
}

impl Default for Rbac {
    /// The defaults: `team_admin` may do everything with a team and is granted to the team's
    /// creator. `team_member` may see the members and invite people, and is granted to everyone
    /// else who joins.
    fn default() -> Self {
        let set = |description: &str, contains: &[System]| Definition {
            key: 0,
            scope: Scope::Team,
            description: Some(description.to_owned()),
            contains: contains.iter().map(|system| system.permission()).collect(),
        };
        let (admin, member) = (PermissionId("team_admin".to_owned()), PermissionId("team_member".to_owned()));
        let mut definitions = BTreeMap::new();
        definitions.insert(admin.clone(), Definition { key: 1, ..set("May do everything with a team", System::ALL) });
        let shared = [System::ReadMembers, System::InviteMembers];
        definitions.insert(member.clone(), Definition { key: 2, ..set("May see team members and invite people", &shared) });
        let defaults = Defaults { team_creator: BTreeSet::from([admin]), team_member: BTreeSet::from([member]), sign_up: BTreeSet::new() };
        Self { definitions, idle: BTreeMap::new(), last_key: 2, defaults, members_invite: true }
    }
}

impl Rbac {
    /// The definitions of a scope, sorted by id; the system permissions are included for
    /// [`Scope::Team`].
    pub fn list(&self, scope: Scope) -> Vec<PermissionDefinition> {
        let own = self.definitions.iter().filter(|(_, definition)| definition.scope == scope).map(|(id, definition)| view(id, definition));
        let system = System::ALL.iter().copied().filter(|_| scope == Scope::Team).map(|system| PermissionDefinition {
            id: system.permission(),
            description: Some(system.row().1.to_owned()),
            contained_permission_ids: Vec::new(),
        });
        let mut all: Vec<_> = own.chain(system).collect();
        all.sort_by(|a, b| a.id.cmp(&b.id));
        all
    }

    /// The definition with this id in this scope. System permissions do not have a definition.
    pub fn read(&self, id: &PermissionId, scope: Scope) -> Result<PermissionDefinition, Refusal> {
        self.own(id, scope).map(|definition| view(id, definition))
    }

    fn own(&self, id: &PermissionId, scope: Scope) -> Result<&Definition, Refusal> {
        match self.definitions.get(id) {
            Some(definition) if definition.scope == scope => Ok(definition),
            Some(definition) => Err(Refusal::OtherScope { id: id.clone(), expected: scope, actual: definition.scope }),
            None => Err(Refusal::NotFound(id.clone())),
        }
    }

    fn scope_of(&self, id: &PermissionId) -> Option<Scope> {
        if id.is_system() { Some(Scope::Team) } else { self.definitions.get(id).map(|definition| definition.scope) }
    }

    /// Creates a definition.
    pub fn create(
        &mut self,
        id: &PermissionId,
        scope: Scope,
        description: Option<String>,
        contains: BTreeSet<PermissionId>,
    ) -> Result<(), Refusal> {
        if id.is_system() || self.definitions.contains_key(id) {
            return Err(Refusal::AlreadyExists(id.clone()));
        }
        if self.definitions.values().filter(|definition| definition.scope == scope).count() >= MAX_DEFINITIONS {
            return Err(Refusal::TooMany);
        }
        self.check_contained(id, scope, &contains)?;
        self.idle.remove(id);
        let key = self.new_key();
        self.definitions.insert(id.clone(), Definition { key, scope, description, contains });
        Ok(())
    }

    fn new_key(&mut self) -> u32 {
        self.last_key += 1;
        self.last_key
    }

    /// The permissions after applying a configuration that defines exactly `described`. A
    /// permission missing from `described` is set aside with its grants, and is no longer granted
    /// by default. A permission that was set aside and is defined again is restored with its
    /// grants. Fails with the id of the refused permission, and the reason.
    pub fn configured(mut self, described: BTreeMap<PermissionId, PermissionSettings>) -> Result<Self, (PermissionId, Refusal)> {
        for (id, new) in &described {
            let refuse = |refused| Err((id.clone(), refused));
            let actual = self.definitions.get(id).map(|definition| definition.scope).or(self.idle.get(id).map(|idle| idle.scope));
            match actual.filter(|scope| *scope != new.scope) {
                _ if id.is_system() => return refuse(Refusal::AlreadyExists(id.clone())),
                Some(actual) => return refuse(Refusal::OtherScope { id: id.clone(), expected: new.scope, actual }),
                None => {}
            }
        }
        for scope in [Scope::Team, Scope::Project] {
            if let Some((id, _)) = described.iter().filter(|(_, new)| new.scope == scope).nth(MAX_DEFINITIONS) {
                return Err((id.clone(), Refusal::TooMany));
            }
        }
        for (id, Definition { key, scope, .. }) in std::mem::take(&mut self.definitions) {
            self.idle.insert(id, IdlePermission { key, scope });
        }
        for (id, PermissionSettings { scope, description, contains }) in described.clone() {
            let key = self.idle.remove(&id).map_or_else(|| self.new_key(), |idle| idle.key);
            self.definitions.insert(id, Definition { key, scope, description, contains });
        }
        for (id, new) in &described {
            self.check_contained(id, new.scope, &new.contains).map_err(|refused| (id.clone(), refused))?;
        }
        let known: BTreeSet<PermissionId> = self.definitions.keys().cloned().collect();
        let Defaults { team_creator, team_member, sign_up } = &mut self.defaults;
        for ids in [team_creator, team_member, sign_up] {
            ids.retain(|id| id.is_system() || known.contains(id));
        }
        Ok(self)
    }

    /// The permissions that the configuration no longer defines.
    pub fn idle(&self) -> impl Iterator<Item = &PermissionId> {
        self.idle.keys()
    }

    /// The ids of the system permissions.
    pub fn system() -> impl Iterator<Item = PermissionId> {
        System::ALL.iter().copied().map(System::permission)
    }

    /// Changes a definition; `None` keeps a value, and `Some(None)` removes the description.
    /// Holders of the permission keep it, even if its id changes.
    pub fn update(
        &mut self,
        id: &PermissionId,
        scope: Scope,
        new_id: Option<&PermissionId>,
        description: Option<Option<String>>,
        contains: Option<BTreeSet<PermissionId>>,
    ) -> Result<(), Refusal> {
        let mut definition = self.own(id, scope)?.clone();
        if let Some(contains) = contains {
            self.check_contained(id, scope, &contains)?;
            definition.contains = contains;
        }
        definition.description = description.unwrap_or(definition.description);
        let new_id = new_id.filter(|new| *new != id);
        if let Some(new) = new_id.filter(|new| new.is_system() || self.definitions.contains_key(new)) {
            return Err(Refusal::AlreadyExists(new.clone()));
        }
        self.definitions.remove(id);
        if let Some(new) = new_id {
            self.idle.remove(new);
            self.each_reference(|ids| {
                if ids.remove(id) {
                    ids.insert(new.clone());
                }
            });
        }
        self.definitions.insert(new_id.unwrap_or(id).clone(), definition);
        Ok(())
    }

    /// Deletes a definition, or a permission that the configuration no longer defines. The holders
    /// lose the permission permanently. The permission is also removed from all permissions that
    /// contain it, and is no longer granted by default.
    pub fn delete(&mut self, id: &PermissionId, scope: Scope) -> Result<(), Refusal> {
        if self.idle.get(id).is_some_and(|idle| idle.scope == scope) {
            self.idle.remove(id);
            return Ok(());
        }
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

    fn check_contained(&self, id: &PermissionId, scope: Scope, contains: &BTreeSet<PermissionId>) -> Result<(), Refusal> {
        let missing = contains.iter().find(|contained| *contained != id && self.scope_of(contained) != Some(scope));
        if let Some(missing) = missing {
            return Err(Refusal::ContainedNotFound(missing.clone()));
        }
        if self.closure(contains.iter().cloned()).contains(id) { Err(Refusal::Cycle(id.clone())) } else { Ok(()) }
    }

    /// The permissions and all permissions that they contain, directly or indirectly.
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

    /// The permissions granted by default at an event.
    pub fn defaults(&self, occasion: Occasion) -> &BTreeSet<PermissionId> {
        match occasion {
            Occasion::TeamCreator => &self.defaults.team_creator,
            Occasion::TeamMember => &self.defaults.team_member,
            Occasion::SignUp => &self.defaults.sign_up,
        }
    }

    /// Sets the permissions granted by default at an event.
    pub fn set_defaults(&mut self, occasion: Occasion, ids: BTreeSet<PermissionId>) -> Result<(), Refusal> {
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

    /// The grants of the default permissions at an event.
    pub fn default_grants(&self, occasion: Occasion) -> BTreeSet<Grant> {
        self.defaults(occasion).iter().filter_map(|id| self.grant(id, occasion.scope()).ok()).collect()
    }

    /// The grant of a permission.
    pub fn grant(&self, id: &PermissionId, scope: Scope) -> Result<Grant, Refusal> {
        match (id.is_system(), scope) {
            (true, Scope::Team) => Ok(Grant(id.0.clone())),
            (true, Scope::Project) => Err(Refusal::OtherScope { id: id.clone(), expected: scope, actual: Scope::Team }),
            (false, _) => self.own(id, scope).map(|definition| Grant(definition.key.to_string())),
        }
    }

    /// The permissions that these grants confer; if `recursive`, with all permissions that they
    /// contain. While [`Self::members_invite`] is off, `$invite_members` is included only if it
    /// comes from a grant other than the defaults of team members.
    pub fn granted(&self, grants: &BTreeSet<Grant>, scope: Scope, recursive: bool) -> BTreeSet<PermissionId> {
        let mut granted = self.expand(grants, scope, recursive);
        if !self.members_invite && scope == Scope::Team {
            let beyond_defaults = grants.difference(&self.default_grants(Occasion::TeamMember)).cloned().collect();
            let invite = System::InviteMembers.permission();
            if !self.expand(&beyond_defaults, scope, true).contains(&invite) {
                granted.remove(&invite);
            }
        }
        granted
    }

    fn expand(&self, grants: &BTreeSet<Grant>, scope: Scope, recursive: bool) -> BTreeSet<PermissionId> {
        let system =
            System::ALL.iter().copied().map(System::permission).filter(|id| scope == Scope::Team && grants.contains(&Grant(id.0.clone())));
        let defined = self
            .definitions
            .iter()
            .filter(|(_, definition)| definition.scope == scope && grants.contains(&Grant(definition.key.to_string())));
        let direct = system.chain(defined.map(|(id, _)| id.clone()));
        if recursive { self.closure(direct) } else { direct.collect() }
    }

    /// Whether these grants of a team member confer a system permission.
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
