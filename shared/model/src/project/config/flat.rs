//! Configurations by path: flat values with dotted paths as keys (`{"a.b": 1}`), converted from
//! nested values (`{"a": {"b": 1}}`) or from a mixture of both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Values by path. A non-empty object does not count as a value, but each member of the object
/// does.
pub type Flat = BTreeMap<String, Value>;

/// Whether a path is `key` or is below `key`.
pub(crate) fn is_at_or_below(path: &str, key: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The number of names in a path.
pub(crate) fn depth(path: &str) -> usize {
    path.split('.').count()
}

/// The path and all paths above it, longest first.
fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent))
}

/// Whether a path is one of these keys or is below one of them.
pub(crate) fn is_covered(path: &str, keys: &Map<String, Value>) -> bool {
    with_parents(path).any(|path| keys.contains_key(path))
}

/// The paths below `key`: those that begin with `key` and `.`. The range of these paths ends before
/// `/`, the character that follows `.`.
pub(crate) fn below<'a>(all: &'a Flat, key: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    all.range(format!("{key}.")..format!("{key}/"))
}

/// Removes `key` and all keys below it.
pub(crate) fn remove_tree(all: &mut Flat, key: &str) {
    let paths: Vec<String> = below(all, key).map(|(path, _)| path.clone()).collect();
    all.remove(key);
    for path in paths {
        all.remove(&path);
    }
}

/// Flattens a nested value at a path.
pub(crate) fn flatten(path: String, value: Value, into: &mut Flat) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (name, value) in object {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                flatten(path, value, into);
            }
        }
        value => drop(into.insert(path, value)),
    }
}

/// The values of an object whose top-level keys may be dotted paths. Shorter keys are set first, so
/// that longer keys can replace parts of their values.
pub(crate) fn from_values(values: &Map<String, Value>) -> Flat {
    let mut keys: Vec<&String> = values.keys().collect();
    keys.sort_by_key(|key| key.matches('.').count());
    let mut all = Flat::new();
    for key in keys {
        remove_tree(&mut all, key);
        // If a parent key is `null`, a value below the parent replaces the `null`.
        for parent in with_parents(key).skip(1) {
            if all.get(parent).is_some_and(Value::is_null) {
                all.remove(parent);
            }
        }
        flatten(key.clone(), values[key].clone(), &mut all);
    }
    all
}

/// The values without those that are below another value, because a nested object cannot contain
/// both.
pub(crate) fn without_shadowed(all: Flat) -> Flat {
    let is_value = |path: &str| all.get(path).is_some_and(|value| !value.is_object());
    let is_shadowed = |path: &str| with_parents(path).skip(1).any(is_value);
    all.iter().filter(|(path, _)| !is_shadowed(path)).map(|(path, value)| (path.clone(), value.clone())).collect()
}

/// Removes keys, and all keys below them, from an object whose top-level keys may be dotted paths,
/// in a single pass. Objects that become empty are removed as well.
pub(crate) fn remove_all(values: &mut Map<String, Value>, keys: &BTreeSet<&str>) {
    values.retain(|path, value| !with_parents(path).any(|path| keys.contains(path)) && !remove_below(path, value, keys));
}

/// Removes keys from the members of the value at `path`. Returns whether the object is now empty.
fn remove_below(path: &str, value: &mut Value, keys: &BTreeSet<&str>) -> bool {
    let Value::Object(members) = value else { return false };
    let below = format!("{path}.");
    if members.is_empty() || keys.range(below.as_str()..).next().is_none_or(|key| !key.starts_with(&below)) {
        return false;
    }
    members.retain(|name, value| {
        let path = format!("{below}{name}");
        !keys.contains(path.as_str()) && !remove_below(&path, value, keys)
    });
    members.is_empty()
}

/// The records of a configuration whose entries are stored as a single key each.
const RECORDS: [&str; 4] = ["auth.oauth.providers", "auth.signUpRules", "domains.trustedDomains", "rbac.permissions"];

/// A nested configuration as an object with dotted paths as keys: one key per value, except that
/// each entry of a record is a single key with an object.
pub(crate) fn from_nested(nested: Value) -> Map<String, Value> {
    let mut all = Flat::new();
    flatten(String::new(), nested, &mut all);
    let mut values = Map::new();
    for (path, value) in all {
        let record =
            RECORDS.iter().find_map(|record| path.strip_prefix(record)?.strip_prefix('.')?.split_once('.').map(|rest| (record, rest)));
        match record {
            Some((record, (id, field))) => {
                let entry = values.entry(format!("{record}.{id}")).or_insert_with(|| Value::Object(Map::new()));
                if let Some(entry) = entry.as_object_mut() {
                    insert(entry, field, value);
                }
            }
            None if path.is_empty() => {}
            None => drop(values.insert(path, value)),
        }
    }
    values
}

/// Sets a value at a path in an object, creating missing objects along the way.
fn insert(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(object.insert(path.to_owned(), value)),
        Some((name, rest)) => {
            if let Value::Object(below) = object.entry(name).or_insert_with(|| Value::Object(Map::new())) {
                insert(below, rest, value);
            }
        }
    }
}
