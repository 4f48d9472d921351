//! The templates and themes at each level of a configuration. Templates and themes are separate
//! items, stored apart from the other values of a level.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::document::MailDocument;
use crate::project::config::documents::{MailDocuments, StartingDocuments, TEMPLATES, THEMES, other_name, template_value, theme_value};
use crate::project::config::flat::{self, Flat, flatten, is_at_or_below};
use crate::project::config::level::Level;
use crate::project::config::level_change::LevelChange;

/// The templates and themes of a project, by level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LevelDocuments {
    /// The documents of the branch.
    pub branch: MailDocuments,
    /// The documents of the environment. A document of the environment overrides the document of
    /// the branch with the same id.
    pub environment: MailDocuments,
}

impl LevelDocuments {
    /// The documents in effect.
    pub fn effective(&self) -> MailDocuments {
        let over = |branch: &[MailDocument], environment: &[MailDocument]| -> Vec<MailDocument> {
            let is_hidden = |document: &MailDocument| environment.iter().any(|other| other.id == document.id);
            branch.iter().filter(|document| !is_hidden(document)).chain(environment).cloned().collect()
        };
        MailDocuments {
            templates: over(&self.branch.templates, &self.environment.templates),
            themes: over(&self.branch.themes, &self.environment.themes),
        }
    }

    /// The documents that belong to a level.
    fn at(&self, level: Level) -> MailDocuments {
        match level {
            Level::Project => MailDocuments::default(),
            Level::Branch => self.branch.clone(),
            Level::Environment => self.environment.clone(),
        }
    }

    /// The documents of the level below, without the built-in ones.
    fn below(&self, level: Level) -> MailDocuments {
        if level == Level::Environment { self.branch.clone() } else { MailDocuments::default() }
    }

    /// The documents on which a change to a level is based.
    pub(crate) fn starting_documents(&self, level: Level) -> StartingDocuments {
        let is_branch = level == Level::Branch;
        let others = self.environment.themes.iter().filter(|_| is_branch).map(|theme| theme.id.uuid()).collect();
        StartingDocuments { own: self.at(level), below: self.below(level), other_themes: others }
    }

    /// The documents set at a level, as the value of the key `emails`.
    pub fn overrides(&self, level: Level) -> Value {
        let MailDocuments { templates, themes } = self.at(level);
        let mut emails = Map::new();
        let mut add = |name: &str, documents: Map<String, Value>| {
            if !documents.is_empty() {
                emails.insert(name.to_owned(), documents.into());
            }
        };
        add("templates", templates.into_iter().map(|document| (document.id.to_string(), template_value(document))).collect());
        add("themes", themes.into_iter().map(|document| (document.id.to_string(), theme_value(document))).collect());
        Value::Object(emails)
    }

    /// The documents in effect after a change to a level, by path, including the built-in documents
    /// and those of the level below.
    pub(crate) fn changed(&self, level: Level, change: &LevelChange) -> Flat {
        let below = self.below(level).flat();
        let mut all = match (change, level) {
            (LevelChange::Replace(_), _) => below.clone(),
            (_, Level::Environment) => self.effective().flat(),
            _ => self.at(level).flat(),
        };
        match change {
            LevelChange::Merge(values) | LevelChange::Replace(values) => {
                for (key, value) in values {
                    set(&mut all, key, value);
                }
            }
            LevelChange::Reset(keys) => {
                for key in keys {
                    flat::remove_tree(&mut all, key);
                    all.extend(
                        below.iter().filter(|(path, _)| is_at_or_below(path, key)).map(|(path, value)| (path.clone(), value.clone())),
                    );
                }
            }
        }
        all.retain(|path, _| is_of_documents(path));
        all
    }
}

fn set(all: &mut Flat, key: &str, value: &Value) {
    let mut new = Flat::new();
    flatten(key.to_owned(), value.clone(), &mut new);
    flat::remove_tree(all, key);
    for path in new.keys() {
        if let Some(other) = other_name(path) {
            all.remove(&other);
        }
    }
    all.extend(new.into_iter().filter(|(_, value)| !value.is_null()));
}

fn is_of_documents(path: &str) -> bool {
    [TEMPLATES, THEMES].iter().any(|parent| is_at_or_below(path, parent))
}

/// A value without the documents in it; `None` if it contains only documents.
pub(crate) fn removed_from(key: &str, value: &Value) -> Option<Value> {
    if is_of_documents(key) {
        return None;
    }
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        let had_members = !members.is_empty();
        for parent in [TEMPLATES, THEMES] {
            if let Some(rest) = parent.strip_prefix(key).and_then(|rest| rest.strip_prefix('.')) {
                flat::remove_all(members, &BTreeSet::from([rest]));
            }
        }
        if had_members && members.is_empty() {
            return None;
        }
    }
    Some(value)
}
