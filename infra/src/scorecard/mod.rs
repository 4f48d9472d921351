//! The security scorecard: the status of each requirement of three standards. For each requirement,
//! it names the tests that prove it, or says why it is not met or does not apply.
//!
//! `infra/security/standards.toml` contains the facts: the ids and levels of the requirements of
//! each standard. For each standard, a file in the same folder has a row for each requirement,
//! which describes the requirement in the project's words. [`Scorecard::problems`] checks that no
//! requirement is missing, and that the tests of each requirement marked as met exist.
//! [`Scorecard::document`] renders the page.

mod document;
mod named_test;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

pub use named_test::NamedTest;

/// The folder with the scorecard's files, relative to the root of the workspace.
const FOLDER: &str = "infra/security";
/// The length, in characters, that the reason of a requirement must exceed, unless the requirement
/// is met.
const MIN_REASON: usize = 20;
/// The maximum length of a summary, in characters, so that it fits in a row of a table.
const MAX_SUMMARY: usize = 250;

/// The standards, with a row for each of their requirements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scorecard {
    #[serde(rename = "standard")]
    pub standards: Vec<Standard>,
}

/// A standard, or the part of it that the scorecard covers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    pub name: String,
    pub url: String,
    /// The meaning of the levels, and the part of the standard that is covered.
    pub about: String,
    /// The name of the file that contains the rows.
    rows: String,
    /// Whether each level is counted separately.
    #[serde(default)]
    counts_levels: bool,
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    #[serde(skip)]
    pub requirements: Vec<Requirement>,
}

/// A chapter of a standard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub heading: String,
    /// The ids and levels of the requirements, in the order of the standard.
    pub ids: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    requirement: Vec<Requirement>,
}

/// A requirement with its status, which is a row of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub id: String,
    pub level: String,
    /// The requirement, in the words of this project.
    pub summary: String,
    pub status: Status,
    /// Tests that fail if the requirement is no longer met, in the form that [`NamedTest::find`]
    /// can parse.
    #[serde(default)]
    pub tests: Vec<String>,
    /// The reason why the requirement is not met or does not apply, or a remark if it is met.
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Met,
    NotApplicable,
    NotMet,
}

impl Status {
    const ALL: [Self; 3] = [Self::Met, Self::NotApplicable, Self::NotMet];
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Met => "met",
            Self::NotApplicable => "not applicable",
            Self::NotMet => "not met",
        })
    }
}

impl Scorecard {
    /// Reads the files of the scorecard below `root`.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let folder = root.join(FOLDER);
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let mut scorecard: Self = toml::from_str(&text("standards.toml")?).context("cannot parse standards.toml")?;
        for standard in &mut scorecard.standards {
            let rows: Rows = toml::from_str(&text(&standard.rows)?).with_context(|| format!("cannot parse {}", standard.rows))?;
            standard.requirements = rows.requirement;
        }
        Ok(scorecard)
    }

    /// The problems of all rows. Tests are looked up below `root`.
    pub fn problems(&self, root: &Path) -> Vec<String> {
        self.standards.iter().flat_map(|standard| standard.problems(root)).collect()
    }
}

impl Standard {
    fn ids(&self) -> impl Iterator<Item = &(String, String)> {
        self.parts.iter().flat_map(|part| &part.ids)
    }

    fn row(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|row| row.id == id)
    }

    fn problems(&self, root: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        let levels: BTreeMap<&str, &str> = self.ids().map(|(id, level)| (id.as_str(), level.as_str())).collect();
        for id in levels.keys() {
            match self.requirements.iter().filter(|row| row.id == *id).count() {
                1 => {}
                0 => problems.push(format!("{} {id}: has no row", self.name)),
                count => problems.push(format!("{} {id}: has {count} rows", self.name)),
            }
        }
        for row in &self.requirements {
            let wrong_level = match levels.get(row.id.as_str()) {
                None => Some("is not a requirement of the standard".to_owned()),
                Some(level) if *level != row.level => Some(format!("has level {level}, not {}", row.level)),
                Some(_) => None,
            };
            let all = wrong_level.into_iter().chain(row.problems(root));
            problems.extend(all.map(|problem| format!("{} {}: {problem}", self.name, row.id)));
        }
        problems
    }
}

impl Requirement {
    /// The problems of this row. The tests of the row are looked up below `root`.
    pub fn problems(&self, root: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.summary.ends_with('.') || self.summary.chars().count() > MAX_SUMMARY {
            problems.push(format!("its summary must end with a full stop and have at most {MAX_SUMMARY} characters"));
        }
        if [&self.summary, &self.reason].into_iter().chain(&self.tests).any(|text| text.contains(['|', '\n'])) {
            problems.push("a text contains `|` or a line break, which would end its table cell".to_owned());
        }
        if self.status == Status::Met && self.tests.is_empty() {
            problems.push("is called met, but names no test".to_owned());
        }
        if self.status != Status::Met && self.reason.chars().count() <= MIN_REASON {
            problems.push(format!("is called {}, without a reason of more than {MIN_REASON} characters", self.status));
        }
        for (position, name) in self.tests.iter().enumerate() {
            if self.tests[..position].contains(name) {
                problems.push(format!("names {name} twice"));
            }
            problems.extend(NamedTest::find(root, name).err());
        }
        problems
    }
}
