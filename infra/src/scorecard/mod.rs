//! The security scorecard: what each requirement of three standards comes to here, with the test that shows it or the reason why not.
//!
//! `infra/security/standards.toml` lists the ids of each standard with their levels, which are facts; a file beside it has a row for each,
//! in our own words. [`Scorecard::problems`] says what is wrong with the rows, so that no requirement is left out and none is called met
//! without a test that exists; [`Scorecard::document`] is the page.

mod document;
mod named_test;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

pub use named_test::NamedTest;

/// Below the root of the workspace.
const FOLDER: &str = "infra/security";
/// A reason of fewer characters says nothing.
const LEAST_REASON: usize = 20;
/// A summary is one line of a table.
const LONGEST_SUMMARY: usize = 250;

/// The standards, each with a row for each of its requirements.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scorecard {
    #[serde(rename = "standard")]
    pub standards: Vec<Standard>,
}

/// A standard, or the part of it that is looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standard {
    pub name: String,
    pub url: String,
    /// What its levels mean, and which part of it this is.
    pub about: String,
    /// The file of its rows.
    rows: String,
    /// Whether its levels are counted apart.
    #[serde(default)]
    counts_levels: bool,
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
    #[serde(skip)]
    pub requirements: Vec<Requirement>,
}

/// A chapter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub heading: String,
    /// Ids with their levels, in the order of the standard.
    pub ids: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    requirement: Vec<Requirement>,
}

/// A row.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub id: String,
    pub level: String,
    /// What it asks for, in our own words.
    pub summary: String,
    pub status: Status,
    /// Tests that fail when it is no longer so, as [`NamedTest`] reads them.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Why it is not met or does not apply; a remark when it is met.
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
    /// Reads the files below `root`.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        let folder = root.join(FOLDER);
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let mut scorecard: Self = toml::from_str(&text("standards.toml")?).context("standards.toml")?;
        for standard in &mut scorecard.standards {
            let rows: Rows = toml::from_str(&text(&standard.rows)?).with_context(|| standard.rows.clone())?;
            standard.requirements = rows.requirement;
        }
        Ok(scorecard)
    }

    /// What is wrong with the rows; tests are looked for below `root`.
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
                None => Some("is no requirement of the standard".to_owned()),
                Some(level) if *level != row.level => Some(format!("is of level {level}, not {}", row.level)),
                Some(_) => None,
            };
            let all = wrong_level.into_iter().chain(row.problems(root));
            problems.extend(all.map(|problem| format!("{} {}: {problem}", self.name, row.id)));
        }
        problems
    }
}

impl Requirement {
    /// What is wrong with the row; its tests are looked for below `root`.
    pub fn problems(&self, root: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        if !self.summary.ends_with('.') || self.summary.chars().count() > LONGEST_SUMMARY {
            problems.push(format!("its summary is no sentence of at most {LONGEST_SUMMARY} characters"));
        }
        if [&self.summary, &self.reason].into_iter().chain(&self.tests).any(|text| text.contains(['|', '\n'])) {
            problems.push("a text has a bar or a line break, which end a cell of the table".to_owned());
        }
        if self.status == Status::Met && self.tests.is_empty() {
            problems.push("is called met, and names no test".to_owned());
        }
        if self.status != Status::Met && self.reason.chars().count() <= LEAST_REASON {
            problems.push(format!("is called {}, without a reason of more than {LEAST_REASON} characters", self.status));
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
