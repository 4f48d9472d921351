//! The levels of a configuration, as stored.
//!
//! Each level is an object whose top-level keys may be dotted paths. The environment overrides the
//! branch, the branch the project, and the project the defaults. A key overrides the same key in
//! the levels below it, and every longer path that begins with the key; objects are not merged.
//! When levels are combined, longer keys are set after shorter ones. A value set at the environment
//! therefore stays in effect regardless of what is pushed to the branch.
//!
//! Templates and themes are not stored with the levels: each template or theme is a separate item
//! that names its level ([`documents`](crate::project::config::documents)). Secrets are stored with
//! the project's settings; the levels contain [`HIDDEN_SECRET`] in place of each secret.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::problem::Problems;

use crate::permission::PermissionId;
use crate::project::Project;
use crate::project::config::defaults::OF_NEW_PROJECTS;
use crate::project::config::documents::MailDocuments;
use crate::project::config::flat::{self, Flat};
use crate::project::config::level::Level;
use crate::project::config::level_change::{LevelChange, Values};
use crate::project::config::level_documents;
use crate::project::config::permissions::{self, PERMISSIONS, definition_path};
use crate::project::config::settings::Config;
use crate::project::passkeys::PasskeySettings;
use crate::setting::HIDDEN_SECRET;

/// The maximum size of all levels together, in bytes of JSON. All levels are stored as one item of
/// the table, and items are limited to 400 KB.
pub const MAX_BYTES: usize = 300_000;
const PASSKEYS: &str = "auth.passkey";
/// The maximum number of keys to reset in one request.
const MAX_KEYS: usize = 1000;
/// The maximum number of names in a path. The limit restricts how deeply a configuration is nested,
/// because functions that visit or drop a nested value recurse once per name.
pub(crate) const MAX_NAMES: usize = 32;
/// The maximum length of a key, in bytes.
const MAX_KEY: usize = 1024;

/// The three levels of a project's configuration.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Debug))]
pub struct Levels {
    #[serde(with = "text")]
    project: Values,
    #[serde(with = "text")]
    branch: Values,
    #[serde(with = "text")]
    environment: Values,
    /// Whether the levels define the project's permissions. `false` for levels that were stored
    /// before configurations could define permissions ([`Self::completed`]).
    #[serde(default)]
    has_permissions: bool,
}

impl Levels {
    /// The levels of a project without stored levels: settings that differ from the defaults are
    /// set at the environment, except the keys of the project level. The environment also enables
    /// the apps that are enabled in a new project of the service for which the SDK was written.
    pub fn of(project: &Project) -> Self {
        let all = Config::of(project, &MailDocuments::default());
        let own = |level| flat::from_nested(all.overrides(level));
        let mut environment = own(Level::Environment);
        environment.extend(OF_NEW_PROJECTS.map(|(path, value)| (path.to_owned(), Value::Bool(value))));
        Self { project: own(Level::Project), branch: Values::new(), environment, has_permissions: true }
    }

    /// Adds settings of the project that are missing from levels stored by earlier versions. The
    /// environment gets the permissions, if the levels were stored before a configuration could
    /// define permissions, and the passkey settings, which earlier versions changed only in the
    /// project.
    #[must_use]
    pub fn completed(mut self, project: &Project) -> Self {
        if !self.has_permissions {
            let own = permissions::to_map(&project.config.rbac).into_iter().map(|(id, value)| (format!("{PERMISSIONS}.{id}"), value));
            self.environment.extend(own);
            self.has_permissions = true;
        }
        let has_passkeys = self.rendered().keys().any(|path| flat::is_at_or_below(path, PASSKEYS));
        if !has_passkeys && project.config.passkeys != PasskeySettings::default() {
            self = self.noted(project, &[PASSKEYS]);
        }
        self
    }

    /// The values of a level, without its documents.
    pub fn at(&self, level: Level) -> &Values {
        match level {
            Level::Project => &self.project,
            Level::Branch => &self.branch,
            Level::Environment => &self.environment,
        }
    }

    fn at_mut(&mut self, level: Level) -> &mut Values {
        match level {
            Level::Project => &mut self.project,
            Level::Branch => &mut self.branch,
            Level::Environment => &mut self.environment,
        }
    }

    /// Changes a level. The values may contain readable secrets until [`Self::without_secrets`]
    /// replaces them.
    pub fn change(&mut self, level: Level, change: &LevelChange) -> Result<(), Problems> {
        match change {
            LevelChange::Merge(values) => self.set(level, values),
            LevelChange::Replace(values) => {
                self.at_mut(level).clear();
                self.set(level, values)
            }
            LevelChange::Reset(keys) => self.reset(level, keys),
        }
    }

    fn set(&mut self, level: Level, values: &Values) -> Result<(), Problems> {
        for (key, value) in values {
            check(level, key, value)?;
        }
        let stored = self.at_mut(level);
        stored.retain(|old, _| !flat::is_covered(old, values));
        let own = values.iter().filter_map(|(key, value)| Some((key.clone(), level_documents::removed_from(key, value)?)));
        stored.extend(own);
        Ok(())
    }

    fn reset(&mut self, level: Level, keys: &[String]) -> Result<(), Problems> {
        if keys.len() > MAX_KEYS {
            return Err(Problems::one("", format!("must have at most {MAX_KEYS} keys")));
        }
        for key in keys {
            check_length(key)?;
            if !level.holds(key) {
                return Err(Problems::one(key, NOT_OF_LEVEL));
            }
            if is_secret(key) {
                return Err(Problems::one(
                    key,
                    "cannot be reset, because the provider, server or widget needs it: set a new value, or remove the whole entry",
                ));
            }
        }
        flat::remove_all(self.at_mut(level), &keys.iter().map(String::as_str).collect());
        Ok(())
    }

    /// The levels after another operation has changed the project's settings. Each of `keys` is set
    /// to the project's value: at the project level if the key can be set there, otherwise at the
    /// environment.
    #[must_use]
    pub fn noted(mut self, project: &Project, keys: &[&str]) -> Self {
        let all = Config::of(project, &MailDocuments::default()).nested();
        for key in keys {
            self.note(&all, key, &json!({}));
        }
        self
    }

    /// Like [`Self::noted`], but for a single entry, such as a provider. An entry that the project
    /// no longer contains is removed from all levels, including the branch.
    #[must_use]
    pub fn with_entry(mut self, project: &Project, key: &str) -> Self {
        self.note(&Config::of(project, &MailDocuments::default()).nested(), key, &Value::Null);
        self
    }

    fn note(&mut self, all: &Value, key: &str, absent: &Value) {
        let value = key.split('.').try_fold(all, |value, name| value.get(name));
        let level = if Level::Project.holds(key) { Level::Project } else { Level::Environment };
        let stored = self.at_mut(level);
        flat::remove_all(stored, &BTreeSet::from([key]));
        stored.insert(key.to_owned(), value.unwrap_or(absent).clone());
    }

    /// The levels after a permission was renamed to `new` or, if `new` is `None`, was deleted.
    /// Removes the definition with the id `old`, and replaces references to `old` with references
    /// to `new`, if there is a new id. Does not add the definition of `new` ([`Self::noted`] does).
    #[must_use]
    pub fn with_permission(mut self, old: &PermissionId, new: Option<&PermissionId>) -> Self {
        let definition = definition_path(old);
        for level in [Level::Branch, Level::Environment] {
            let values = self.at_mut(level);
            let references = permissions::references(&flat::from_values(values), old);
            let paths: Vec<String> = references.iter().map(|(object, _)| format!("{object}.{old}")).collect();
            flat::remove_all(values, &paths.iter().map(String::as_str).chain([definition.as_str()]).collect());
            if let Some(new) = new {
                values.extend(references.into_iter().map(|(object, value)| (format!("{object}.{new}"), value)));
            }
        }
        self
    }

    /// The values of a level by path.
    pub(crate) fn flat(&self, level: Level) -> Flat {
        flat::from_values(self.at(level))
    }

    /// The values of all levels by path, each from the highest level that sets it. `null` means the
    /// default value.
    pub fn rendered(&self) -> Flat {
        let [project, branch, environment] = [&self.project, &self.branch, &self.environment];
        flat::from_values(&laid_over(laid_over(project.clone(), branch), environment))
    }

    /// The levels to store, with a placeholder for each secret. Fails if the levels are too large.
    pub fn without_secrets(mut self) -> Result<Self, Problems> {
        for values in [&mut self.branch, &mut self.environment] {
            values.iter_mut().for_each(|(key, value)| hide(key, value));
        }
        let size: usize = [&self.project, &self.branch, &self.environment].map(|values| json!(values).to_string().len()).iter().sum();
        if size > MAX_BYTES {
            return Err(Problems::one(
                "",
                format!("must not make the levels of the configuration longer than {MAX_BYTES} bytes of JSON in total"),
            ));
        }
        Ok(self)
    }
}

/// The message for a key that cannot be set at a level.
const NOT_OF_LEVEL: &str = "is not a key of this level";

fn check(level: Level, key: &str, value: &Value) -> Result<(), Problems> {
    check_length(key)?;
    for name in key.split('.') {
        check_name(key, name)?;
    }
    check_value(level, key, value)
}

fn check_length(key: &str) -> Result<(), Problems> {
    if key.len() > MAX_KEY {
        let start: String = key.chars().take(60).collect();
        return Err(Problems::one(&format!("{start}…"), format!("must be at most {MAX_KEY} bytes long")));
    }
    if flat::depth(key) > MAX_NAMES {
        return Err(Problems::one(key, format!("must have at most {MAX_NAMES} names, separated by dots")));
    }
    Ok(())
}

/// Checks a value and all values below it; the names in its path have already been checked.
fn check_value(level: Level, path: &str, value: &Value) -> Result<(), Problems> {
    if !level.holds(path) {
        return Err(Problems::one(path, NOT_OF_LEVEL));
    }
    if path.starts_with("dbSync.") && path.ends_with(".connectionString") && !value.is_null() {
        let message = "is a secret, and would have no effect: remove it, because Gatelet does not copy data to other databases";
        return Err(Problems::one(path, message));
    }
    let Value::Object(members) = value else { return Ok(()) };
    for (name, value) in members {
        let path = format!("{path}.{name}");
        check_name(&path, name)?;
        if flat::depth(&path) > MAX_NAMES {
            return Err(Problems::one(&path, format!("must have at most {MAX_NAMES} names, separated by dots")));
        }
        check_value(level, &path, value)?;
    }
    Ok(())
}

fn check_name(path: &str, name: &str) -> Result<(), Problems> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_:$-".contains(&byte);
    if name.is_empty() {
        return Err(Problems::one(path, NOT_OF_LEVEL));
    }
    if name.starts_with('-') || !name.bytes().all(is_known) {
        let message = "must have names of letters, digits, _, :, $ and -, not beginning with -; only top-level keys may contain dots";
        return Err(Problems::one(path, message));
    }
    Ok(())
}

/// Whether the value at this path is a secret.
fn is_secret(path: &str) -> bool {
    let is_of_provider = |rest: &str| rest.strip_suffix(".clientSecret").is_some_and(|id| !id.contains('.'));
    path == "emails.server.password"
        || path == "auth.botChallenge.secretKey"
        || path.strip_prefix("auth.oauth.providers.").is_some_and(is_of_provider)
}

fn hide(path: &str, value: &mut Value) {
    match value {
        Value::Object(members) => members.iter_mut().for_each(|(name, value)| hide(&format!("{path}.{name}"), value)),
        Value::Null => {}
        value if is_secret(path) => *value = Value::from(HIDDEN_SECRET),
        _ => {}
    }
}

fn laid_over(mut below: Values, above: &Values) -> Values {
    below.retain(|old, _| !flat::is_covered(old, above));
    below.extend(above.clone());
    below
}

/// Stores values as JSON text, because JSON has numbers that DynamoDB cannot store.
mod text {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Values;

    pub(super) fn serialize<S: Serializer>(values: &Values, to: S) -> Result<S::Ok, S::Error> {
        serde_json::Value::Object(values.clone()).to_string().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
        serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}
