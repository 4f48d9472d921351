//! The bundle ids of a project's apps that use native Sign in with Apple.

use std::collections::BTreeMap;

use deserr::{DeserializeError, Deserr, IntoValue, Value, ValuePointerRef};

/// The id of Apple in the catalog of providers.
pub const APPLE: &str = "apple";

/// The longest bundle id (`CFBundleIdentifier`) that Apple permits, in bytes.
const MAX_LENGTH: usize = 155;
const MAX_BUNDLES: usize = 20;

/// A bundle id of an app, with its name in the configuration if the request contains a name.
#[derive(Clone)]
pub struct AppleBundle {
    /// The name in the configuration; absent if the request contains only ids (`apple_bundle_ids`).
    pub name: Option<String>,
    /// The bundle id.
    pub id: String,
}

impl<E: DeserializeError> Deserr<E> for AppleBundle {
    fn deserialize_from_value<V: IntoValue>(value: Value<V>, location: ValuePointerRef<'_>) -> Result<Self, E> {
        Ok(Self { name: None, id: String::deserialize_from_value(value, location)? })
    }
}

/// The bundle ids of a provider, by name. An id without a name keeps its name in `old` or, if it is
/// not in `old`, gets a new name.
pub(crate) fn named(
    provider_id: &str,
    bundles: Vec<AppleBundle>,
    old: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, &'static str> {
    if provider_id != APPLE && !bundles.is_empty() {
        return Err("must be absent, because only the provider apple has bundle ids");
    }
    if bundles.len() > MAX_BUNDLES {
        return Err("must have at most 20 bundle ids");
    }
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for AppleBundle { name, id } in bundles {
        let is_id = (1..=MAX_LENGTH).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        if !is_id {
            return Err("must be bundle ids of 1 to 155 characters from A-Z, a-z, 0-9, - and .");
        }
        if named.values().any(|other| *other == id) {
            return Err("must not contain a bundle id twice");
        }
        let known = || old.iter().find(|(_, other)| **other == id).map(|(name, _)| name.clone());
        let name = name.or_else(known).unwrap_or_else(|| free_name(&named, old));
        named.insert(name, id);
    }
    Ok(named)
}

fn free_name(named: &BTreeMap<String, String>, old: &BTreeMap<String, String>) -> String {
    let mut number = 0;
    loop {
        number += 1;
        let name = format!("bundle{number}");
        if !named.contains_key(&name) && !old.contains_key(&name) {
            return name;
        }
    }
}
