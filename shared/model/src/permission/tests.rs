//! Tests of the rules for permissions.

use std::collections::BTreeSet;

use crate::permission::*;

fn id(text: &str) -> PermissionId {
    PermissionId::parse(text).expect("an id")
}

fn ids(texts: &[&str]) -> BTreeSet<PermissionId> {
    texts.iter().map(|text| id(text)).collect()
}

fn rbac() -> Rbac {
    let mut rbac = Rbac::default();
    rbac.create(&id("read"), Scope::Team, None, BTreeSet::new()).expect("created");
    rbac.create(&id("write"), Scope::Team, None, ids(&["read", "$update_team"])).expect("created");
    rbac.create(&id("audit"), Scope::Project, None, BTreeSet::new()).expect("created");
    rbac
}

fn granted(rbac: &Rbac, text: &str) -> BTreeSet<Grant> {
    BTreeSet::from([rbac.grant(&id(text), Scope::Team).expect("a grant")])
}

#[test]
fn a_permission_includes_what_it_contains() {
    let mut rbac = rbac();
    rbac.create(&id("own"), Scope::Team, None, ids(&["write"])).expect("created");
    let own = granted(&rbac, "own");
    assert_eq!(rbac.granted(&own, Scope::Team, false), ids(&["own"]));
    assert_eq!(rbac.granted(&own, Scope::Team, true), ids(&["own", "write", "read", "$update_team"]));
    assert!(rbac.allows(&own, System::UpdateTeam) && !rbac.allows(&own, System::DeleteTeam));
}

#[test]
fn a_permission_never_contains_itself_even_indirectly() {
    let mut rbac = rbac();
    assert_eq!(rbac.create(&id("a"), Scope::Team, None, ids(&["a"])), Err(Refusal::Cycle(id("a"))));
    assert_eq!(rbac.update(&id("read"), Scope::Team, None, None, Some(ids(&["write"]))), Err(Refusal::Cycle(id("read"))));
    rbac.create(&id("own"), Scope::Team, None, ids(&["write"])).expect("created");
    assert_eq!(rbac.update(&id("read"), Scope::Team, None, None, Some(ids(&["own"]))), Err(Refusal::Cycle(id("read"))));
    rbac.update(&id("own"), Scope::Team, None, None, Some(ids(&["read"]))).expect("no cycle");
}

#[test]
fn contained_permissions_exist_in_the_same_scope() {
    let mut rbac = rbac();
    for other in ["nothing", "audit"] {
        let refused = rbac.create(&id("x"), Scope::Team, None, ids(&[other]));
        assert_eq!(refused, Err(Refusal::ContainedNotFound(id(other))));
    }
    assert_eq!(rbac.create(&id("x"), Scope::Project, None, ids(&["$update_team"])), Err(Refusal::ContainedNotFound(id("$update_team"))));
}

#[test]
fn a_grant_survives_renaming_but_not_deletion() {
    let mut rbac = rbac();
    let grant = granted(&rbac, "write");
    rbac.create(&id("own"), Scope::Team, None, ids(&["write"])).expect("created");
    rbac.set_defaults(Occasion::TeamMember, ids(&["write"])).expect("set");
    rbac.update(&id("write"), Scope::Team, Some(&id("edit")), None, None).expect("renamed");
    assert_eq!(rbac.granted(&grant, Scope::Team, false), ids(&["edit"]));
    assert_eq!(rbac.defaults(Occasion::TeamMember), &ids(&["edit"]));
    assert_eq!(rbac.read(&id("own"), Scope::Team).expect("there").contained_permission_ids, [id("edit")]);
    rbac.delete(&id("edit"), Scope::Team).expect("deleted");
    rbac.create(&id("edit"), Scope::Team, None, BTreeSet::new()).expect("created");
    assert_eq!(rbac.granted(&grant, Scope::Team, true), BTreeSet::new());
    assert_eq!(rbac.defaults(Occasion::TeamMember), &BTreeSet::new());
    assert!(rbac.read(&id("own"), Scope::Team).expect("there").contained_permission_ids.is_empty());
}

#[test]
fn ids_are_unique_and_system_ids_are_reserved() {
    let mut rbac = rbac();
    for taken in ["read", "audit", "$update_team"] {
        assert_eq!(rbac.create(&id(taken), Scope::Team, None, BTreeSet::new()), Err(Refusal::AlreadyExists(id(taken))));
        assert_eq!(rbac.update(&id("write"), Scope::Team, Some(&id(taken)), None, None), Err(Refusal::AlreadyExists(id(taken))));
    }
    for text in ["", "$own", "Read", "a b", "ä", &"a".repeat(65)] {
        assert_eq!(PermissionId::parse(text), Err(PermissionRefusal), "{text}");
    }
}

#[test]
fn a_permission_of_the_other_scope_is_not_granted() {
    let rbac = rbac();
    let other = |text: &str, expected, actual| Err(Refusal::OtherScope { id: id(text), expected, actual });
    assert_eq!(rbac.grant(&id("audit"), Scope::Team), other("audit", Scope::Team, Scope::Project));
    assert_eq!(rbac.grant(&id("$update_team"), Scope::Project), other("$update_team", Scope::Project, Scope::Team));
    assert_eq!(rbac.grant(&id("gone"), Scope::Team), Err(Refusal::NotFound(id("gone"))));
}

#[test]
fn a_scope_has_at_most_a_hundred_permissions() {
    let mut rbac = Rbac::default();
    for index in 2..MAX_DEFINITIONS {
        rbac.create(&id(&format!("p{index}")), Scope::Team, None, BTreeSet::new()).expect("created");
    }
    assert_eq!(rbac.create(&id("more"), Scope::Team, None, BTreeSet::new()), Err(Refusal::TooMany));
}

#[test]
fn members_invite_by_default_unless_the_project_forbids_it() {
    let mut rbac = Rbac::default();
    rbac.create(&id("greeter"), Scope::Team, None, ids(&["$invite_members"])).expect("created");
    let held = |text: &[&str], rbac: &Rbac| text.iter().flat_map(|text| granted(rbac, text)).collect::<BTreeSet<Grant>>();
    let by_default = held(&["team_member"], &rbac);
    let beyond = [&["team_admin"][..], &["team_member", "greeter"], &["team_member", "$invite_members"]].map(|text| held(text, &rbac));
    assert!(rbac.allows(&by_default, System::InviteMembers));

    rbac.members_invite = false;
    assert!(!rbac.allows(&by_default, System::InviteMembers) && rbac.allows(&by_default, System::ReadMembers));
    assert_eq!(rbac.granted(&by_default, Scope::Team, true), ids(&["team_member", "$read_members"]));
    assert!(beyond.iter().all(|grants| rbac.allows(grants, System::InviteMembers)));
    // Making `$invite_members` a default permission does not let members invite people either.
    rbac.set_defaults(Occasion::TeamMember, ids(&["team_member", "$invite_members"])).expect("set");
    assert!(!rbac.allows(&beyond[2], System::InviteMembers) && rbac.allows(&beyond[1], System::InviteMembers));
}

#[test]
fn members_invite_in_projects_stored_before_the_setting() {
    let mut stored = serde_json::to_value(Rbac::default()).expect("JSON");
    assert_eq!(stored.as_object_mut().expect("an object").remove("members_invite"), Some(true.into()));
    assert_eq!(serde_json::from_value::<Rbac>(stored).expect("permissions"), Rbac::default());
}
