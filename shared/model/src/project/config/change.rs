//! Changes to a level of a configuration.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value};
use wire::problem::Problems;

use crate::project::Project;
use crate::project::config::defaults;
use crate::project::config::document::Document;
use crate::project::config::documents::DocumentChange;
use crate::project::config::flat::{self, Flat};
use crate::project::config::level::{Level, is_without_effect};
use crate::project::config::level_change::LevelChange;
use crate::project::config::level_documents::LevelDocuments;
use crate::project::config::levels::{Levels, MAX_NAMES};
use crate::project::config::notices::Notices;
use crate::project::config::paths::{DOMAINS, PROVIDERS, RULES};
use crate::project::config::permissions::{self, PERMISSIONS};
use crate::project::config::read::read;
use crate::project::config::settings::Config;
use crate::setting::{Deployment, HIDDEN_SECRET};

/// A project after a change to its configuration.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub struct ChangedProject {
    /// The project with its new settings.
    pub project: Project,
    /// The new levels, without secrets.
    pub levels: Levels,
    /// The changes to the documents of the changed level.
    pub documents: Vec<DocumentChange>,
}

/// Applies a change to a level, and updates the settings derived from the levels. If there are
/// problems, the function does not change anything, and returns the problems by configuration path.
pub fn change(
    mut levels: Levels,
    (level, change): (Level, &LevelChange),
    (project, documents): (Project, &LevelDocuments),
    deployment: &Deployment<'_>,
    now: Timestamp,
) -> Result<ChangedProject, Problems> {
    levels.change(level, change)?;
    check_types(levels.flat(level))?;
    let mut all = effective(levels.rendered());
    let written = written(change);
    drop_fragments(&mut all, &written);
    permissions::drop_references(&mut all, &written);
    all.extend(documents.changed(level, change));
    let (project, documents) = read(&Config(all), project, (level, documents), deployment, now)?;
    Ok(ChangedProject { project, levels: levels.without_secrets()?, documents })
}

/// The values that are neither `null` nor without effect.
fn effective(mut all: Flat) -> Flat {
    all.retain(|path, value| !value.is_null() && !is_without_effect(path));
    all
}

/// Checks the types of all values of a level, including values that another level overrides.
fn check_types(level: Flat) -> Result<(), Problems> {
    let nested = Config(effective(level)).try_nested()?;
    let document = deserr::deserialize::<Document, _, Problems>(nested)?;
    Notices::read(document.emails.notices).map(drop)
}

/// The values that a change sets, by path.
fn written(change: &LevelChange) -> Flat {
    match change {
        LevelChange::Merge(values) | LevelChange::Replace(values) => flat::from_values(values),
        LevelChange::Reset(_) => Flat::new(),
    }
}

/// Removes entries that are incomplete because another level no longer sets their required field.
/// Incomplete entries that the change itself sets are kept, so that they are rejected later.
fn drop_fragments(all: &mut Flat, written: &Flat) {
    for (record, field) in [(DOMAINS, "baseUrl"), (PERMISSIONS, "scope")] {
        let ids = |values: &Flat| -> BTreeSet<String> { values.keys().filter_map(|path| entry_of(path, record)).collect() };
        for id in ids(all).difference(&ids(written)) {
            let entry = format!("{record}.{id}");
            if !all.contains_key(&format!("{entry}.{field}")) {
                flat::remove_tree(all, &entry);
            }
        }
    }
}

/// The id of the entry in `record` that contains the path; `None` if the path is not below an
/// entry.
fn entry_of(path: &str, record: &str) -> Option<String> {
    let rest = path.strip_prefix(record)?.strip_prefix('.')?;
    rest.split_once('.').map(|(id, _)| id.to_owned())
}

impl Config {
    /// The complete configuration of a project: settings, templates and themes, values without
    /// effect, providers that users cannot sign in with, and sign-up rules without a condition.
    pub fn whole(project: &Project, documents: &LevelDocuments, levels: &Levels) -> Value {
        let others = without_effect(project, levels);
        let mut entries = Flat::new();
        for record in defaults::RECORDS {
            let ids: BTreeSet<&str> = others.keys().filter_map(|path| id_in(path, record)).collect();
            for id in ids {
                flat::flatten(format!("{record}.{id}"), defaults::entry_defaults(record, id), &mut entries);
            }
        }
        let mut nested = Self::of(project, &documents.effective()).nested();
        for values in [defaults::without_effect(), Self(entries).nested(), Self(others).nested()] {
            merge(&mut nested, values);
        }
        nested
    }

    /// The values that a level sets, including its documents.
    pub fn level_value(levels: &Levels, documents: &LevelDocuments, level: Level) -> Value {
        let mut values = Value::Object(levels.at(level).clone());
        let own = documents.overrides(level);
        if own.as_object().is_some_and(|own| !own.is_empty()) {
            merge(&mut values, Value::Object(Map::from_iter([("emails".to_owned(), own)])));
        }
        values
    }
}

/// The values in the levels that are not part of the project's settings.
fn without_effect(project: &Project, levels: &Levels) -> Flat {
    let config = &project.config;
    let is_idle = |path: &str| {
        id_in(path, PROVIDERS).is_some_and(|id| config.oauth_provider(id).is_none())
            || id_in(path, RULES).is_some_and(|id| !config.sign_up_rules.iter().any(|rule| rule.id == id))
    };
    let mut all = levels.rendered();
    // Earlier versions stored paths with more names than are permitted now.
    all.retain(|path, value| !value.is_null() && flat::depth(path) <= MAX_NAMES && (is_without_effect(path) || is_idle(path)));
    // Earlier versions stored providers without a placeholder for the secret.
    for provider in config.idle_oauth_providers.iter().filter(|provider| !provider.is_shared()) {
        all.insert(format!("{PROVIDERS}.{}.clientSecret", provider.id), Value::from(HIDDEN_SECRET));
    }
    flat::without_shadowed(all)
}

/// The id of the entry in `record` at or above the path; `None` if there is no such entry.
fn id_in<'a>(path: &'a str, record: &str) -> Option<&'a str> {
    path.strip_prefix(record)?.strip_prefix('.')?.split('.').next()
}

/// Merges the members of an object into another, at every depth. Any other value replaces the
/// existing one.
fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, other) => *into = other,
    }
}
