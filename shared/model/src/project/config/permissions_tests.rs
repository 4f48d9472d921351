//! Tests of permissions that a configuration defines.

use serde_json::{Value, json};

use super::levels_tests::State;
use super::tests::object;
use crate::permission::{Grant, PermissionId, Scope};
use crate::project::config::{Level, LevelChange, Levels};

fn id(text: &str) -> PermissionId {
    PermissionId::parse(text).expect("an id")
}

fn grant(state: &State, text: &str) -> Option<Grant> {
    state.0.config.rbac.grant(&id(text), Scope::Team).ok()
}

/// The error message of a refused change to the branch.
fn refused(values: Value) -> String {
    State::new().change(Level::Branch, &LevelChange::Merge(object(values))).err().expect("refused")
}

fn reader() -> Value {
    json!({ "rbac.permissions.read": { "scope": "team", "description": "Reads", "containedPermissionIds": { "$read_members": true } } })
}

#[test]
fn a_permission_that_is_pushed_again_has_its_former_grants() {
    let state = State::new().push(reader());
    let first = grant(&state, "read").expect("defined");
    let state = state.push(json!({}));
    assert_eq!(grant(&state, "read"), None);
    assert!(grant(&state, "team_admin").is_some(), "the environment defines it");
    let state = state.push(reader());
    assert_eq!(grant(&state, "read"), Some(first.clone()));
    // The grants end only when the permission itself is deleted.
    let State(mut project, levels) = state.push(json!({}));
    project.config.rbac.delete(&id("read"), Scope::Team).expect("deleted");
    let state = State(project, levels).push(reader());
    assert!(grant(&state, "read").is_some_and(|new| new != first));
}

#[test]
fn the_environment_changes_and_removes_permissions_of_the_branch() {
    let state = State::new().push(reader());
    let state = state.merge(Level::Environment, json!({ "rbac.permissions.read.description": "Ours" }));
    assert_eq!(state.0.config.rbac.read(&id("read"), Scope::Team).expect("defined").description.as_deref(), Some("Ours"));
    let state = state.merge(Level::Environment, json!({ "rbac.permissions.read": null }));
    assert_eq!(grant(&state, "read"), None);
    let state = state.reset(Level::Environment, "rbac.permissions.read");
    assert!(grant(&state, "read").is_some());
    // Without the scope, which the branch sets, a description alone does not define a permission.
    let state = state.merge(Level::Environment, json!({ "rbac.permissions.read.description": "Ours" })).push(json!({}));
    assert_eq!(grant(&state, "read"), None);
}

#[test]
fn references_to_a_permission_that_another_level_removed_have_no_effect() {
    let state = State::new().push(reader());
    let ours = json!({
        "rbac.permissions.write": { "scope": "team", "containedPermissionIds": { "read": true } },
        "rbac.defaultPermissions.teamMember.read": true,
    });
    let state = state.merge(Level::Environment, ours);
    let contained = |state: &State| state.0.config.rbac.read(&id("write"), Scope::Team).expect("defined").contained_permission_ids;
    assert_eq!(contained(&state), [id("read")]);
    let state = state.push(json!({}));
    assert!(contained(&state).is_empty());
    let state = state.push(reader());
    assert_eq!(contained(&state), [id("read")]);
}

#[test]
fn invalid_permissions_are_refused_by_their_paths() {
    let team = |more: Value| {
        let mut value = json!({ "scope": "team" });
        value.as_object_mut().expect("an object").extend(object(more));
        value
    };
    let contains = |ids: Value| team(json!({ "containedPermissionIds": ids }));
    for (values, message) in [
        (json!({ "rbac.permissions.read": {} }), "rbac.permissions.read.scope is required"),
        (json!({ "rbac.permissions.Read": team(json!({})) }), "rbac.permissions.Read must be 1 to 64"),
        (json!({ "rbac.permissions.$read_members": team(json!({})) }), "rbac.permissions.$read_members"),
        (json!({ "rbac.permissions.read.scope": "galaxy" }), "rbac.permissions.read.scope"),
        (json!({ "rbac.permissions.read": team(json!({ "description": "x".repeat(257) })) }), "rbac.permissions.read.description"),
        (json!({ "rbac.permissions.read": team(json!({ "key": 1 })) }), "rbac.permissions.read"),
        (json!({ "rbac.permissions.read": contains(json!({ "nobody": true })) }), "containedPermissionIds.nobody must be"),
        (json!({ "rbac.permissions.read": contains(json!({ "read": true })) }), "rbac.permissions.read"),
        (
            json!({ "rbac.permissions.a": contains(json!({ "b": true })), "rbac.permissions.b": contains(json!({ "a": true })) }),
            "would contain itself",
        ),
        (json!({ "rbac.permissions.read": { "scope": "project", "containedPermissionIds": { "$read_members": true } } }), "$read_members"),
        (json!({ "rbac.defaultPermissions.signUp.team_member": true }), "rbac.defaultPermissions.signUp"),
    ] {
        let refused = refused(values);
        assert!(refused.contains(message), "{message}: {refused}");
    }
    let other = LevelChange::Merge(object(json!({ "rbac.permissions.team_admin": { "scope": "project" } })));
    let refused = State::new().change(Level::Environment, &other).err().expect("refused");
    assert!(refused.contains("rbac.permissions.team_admin.scope must be team"), "{refused}");
}

#[test]
fn the_numbers_of_permissions_and_of_those_set_aside_are_bounded() {
    let many = |name: &str, count: usize| {
        let definition = |number| (format!("rbac.permissions.{name}{number}"), json!({ "scope": "team" }));
        Value::Object((0..count).map(definition).collect())
    };
    assert!(refused(many("a", 99)).contains("at most 100"), "with team_admin and team_member");
    let mut state = State::new();
    for name in ["a", "b"] {
        state = state.push(many(name, 98));
    }
    let push = |state: &State, name| {
        State(state.0.clone(), state.1.clone()).change(Level::Branch, &LevelChange::Replace(object(many(name, 98)))).map(drop)
    };
    let state = state.push(many("c", 98));
    let refused = push(&state, "d").expect_err("294 would be set aside");
    assert!(refused.contains("such as "), "{refused}");
    assert_eq!(push(&state, "a"), Ok(()), "these are restored");
}

#[test]
fn levels_of_earlier_versions_get_the_permissions_of_the_project() {
    let state = State::new().push(reader());
    let mut stored = serde_json::to_value(Levels::of(&state.0)).expect("JSON");
    let levels = stored.as_object_mut().expect("an object");
    levels.remove("has_permissions");
    levels.insert("environment".to_owned(), json!("{\"auth.otp.allowSignIn\":true}"));
    let levels: Levels = serde_json::from_value(stored).expect("levels");
    let state = State(state.0, levels.completed(&State::new().push(reader()).0)).push(json!({}));
    assert!(grant(&state, "read").is_some() && grant(&state, "team_member").is_some() && state.0.config.magic_link_enabled);
}

#[test]
fn a_permission_is_renamed_or_deleted_in_every_level() {
    let branch = json!({ "rbac": { "permissions": {
        "read": { "scope": "team" }, "write": { "scope": "team", "containedPermissionIds": { "read": true } },
    } } });
    let levels = State::new().push(branch).1;
    let renamed = levels.clone().with_permission(&id("read"), Some(&id("see"))).rendered();
    assert_eq!(renamed["rbac.permissions.write.containedPermissionIds.see"], true);
    assert!(renamed.keys().all(|path| !path.contains(".read")), "{renamed:?}");
    let deleted = levels.with_permission(&id("read"), None).rendered();
    assert!(deleted.keys().all(|path| !path.contains(".read")) && deleted.contains_key("rbac.permissions.write.scope"), "{deleted:?}");
}

#[test]
fn at_most_1000_keys_can_be_reset_together() {
    let value = |number: usize| (format!("payments.items.i{number}"), json!({ "displayName": "x", "more": { "a": 1, "b": 2 } }));
    let state = State::new().push(Value::Object((0..900).map(value).collect()));
    let keys = |count: usize| LevelChange::Reset((0..count).map(|number| format!("payments.items.i{number}.more.a")).collect());
    let state = state.change(Level::Branch, &keys(900)).map_err(drop).expect("valid");
    assert_eq!(state.1.at(Level::Branch)["payments.items.i7"], json!({ "displayName": "x", "more": { "b": 2 } }));
    assert!(state.change(Level::Branch, &keys(1001)).err().expect("refused").contains("at most 1000 keys"));
}
