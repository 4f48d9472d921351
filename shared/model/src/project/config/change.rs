//! Changes to a level of a configuration.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value};
use wire::problem::Problems;

use crate::project::Project;
use crate::project::config::document::Document;
use crate::project::config::documents::DocumentChange;
use crate::project::config::flat::{self, Flat, is_at_or_below};
use crate::project::config::level::{Level, areas_without_effect, is_without_effect};
use crate::project::config::level_change::LevelChange;
use crate::project::config::level_documents::LevelDocuments;
use crate::project::config::levels::{Levels, MAX_NAMES};
use crate::project::config::notices::Notices;
use crate::project::config::paths::{DOMAINS, PROVIDERS, RULES};
use crate::project::config::permissions::{self, PERMISSIONS};
use crate::project::config::read::read;
use crate::project::config::settings::Config;
use crate::project::setting::Deployment;

/// A project after a change to its configuration.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub struct Changed {
    /// The project with its new settings.
    pub project: Project,
    /// The new levels, without secrets.
    pub levels: Levels,
    /// The changes to the documents of the level.
    pub documents: Vec<DocumentChange>,
}

/// Applies a change to a level, and to the settings that follow from the levels. If there are
/// problems, changes nothing and returns the problems by configuration path.
pub fn change(
    mut levels: Levels,
    (level, change): (Level, &LevelChange),
    (project, documents): (Project, &LevelDocuments),
    deployment: &Deployment<'_>,
    now: Timestamp,
) -> Result<Changed, Problems> {
    levels.change(level, change)?;
    check_types(levels.flat(level))?;
    let mut all = effective(levels.rendered());
    let written = written(change);
    drop_fragments(&mut all, &written);
    permissions::drop_references(&mut all, &written);
    all.extend(documents.changed(level, change));
    let (project, documents) = read(&Config(all), project, (level, documents), deployment, now)?;
    Ok(Changed { project, levels: levels.without_secrets()?, documents })
}

/// The values that have an effect.
fn effective(mut all: Flat) -> Flat {
    all.retain(|path, value| !value.is_null() && !is_without_effect(path));
    all
}

/// Checks the types of a level's values, including those that another level overrides.
fn check_types(level: Flat) -> Result<(), Problems> {
    let nested = Config(effective(level)).try_nested()?;
    let document = deserr::deserialize::<Document, _, Problems>(nested)?;
    Notices::read(document.emails.notices).map(drop)
}

/// The paths that a change sets.
fn written(change: &LevelChange) -> Flat {
    match change {
        LevelChange::Merge(values) | LevelChange::Replace(values) => flat::of(values),
        LevelChange::Reset(_) => Flat::new(),
    }
}

/// Removes entries that are incomplete because another level no longer sets their required fields.
/// Incomplete entries that the change itself sets are kept, so that they are rejected later.
fn drop_fragments(all: &mut Flat, written: &Flat) {
    for (record, fields) in [(RULES, &["condition", "action"][..]), (DOMAINS, &["baseUrl"][..]), (PERMISSIONS, &["scope"][..])] {
        let ids = |values: &Flat| -> BTreeSet<String> { values.keys().filter_map(|path| entry_of(path, record)).collect() };
        for id in ids(all).difference(&ids(written)) {
            let entry = format!("{record}.{id}");
            let has = |field: &&str| {
                let path = format!("{entry}.{field}");
                all.contains_key(&path) || flat::below(all, &path).next().is_some()
            };
            if !fields.iter().all(has) {
                flat::cut(all, &entry);
            }
        }
    }
}

/// The id of the entry of `record` to which a path belongs; `None` if the path is not below an
/// entry.
fn entry_of(path: &str, record: &str) -> Option<String> {
    let rest = path.strip_prefix(record)?.strip_prefix('.')?;
    rest.split_once('.').map(|(id, _)| id.to_owned())
}

impl Config {
    /// The whole configuration of a project: its settings, its templates and themes, the values
    /// without effect, and the providers that users cannot sign in with.
    pub fn whole(project: &Project, documents: &LevelDocuments, levels: &Levels) -> Value {
        let mut nested = Self::of(project, &documents.effective()).nested();
        let mut others = levels.rendered();
        let is_offered = |path: &str| entry_of(path, PROVIDERS).is_some_and(|id| project.config.oauth_provider(&id).is_some());
        others.retain(|path, value| {
            // Older versions stored paths with more names than are permitted now.
            !value.is_null()
                && flat::names(path) <= MAX_NAMES
                && (is_without_effect(path) || (is_at_or_below(path, PROVIDERS) && path.len() > PROVIDERS.len() && !is_offered(path)))
        });
        merge(&mut nested, Value::Object(areas_without_effect().collect()));
        merge(&mut nested, Self(others).nested());
        nested
    }

    /// The values that a level sets, with its documents.
    pub fn of_level(levels: &Levels, documents: &LevelDocuments, level: Level) -> Value {
        let mut values = Value::Object(levels.at(level).clone());
        let own = documents.overrides(level);
        if own.as_object().is_some_and(|own| !own.is_empty()) {
            merge(&mut values, Value::Object(Map::from_iter([("emails".to_owned(), own)])));
        }
        values
    }
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
