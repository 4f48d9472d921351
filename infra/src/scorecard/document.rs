//! The page: counts at the head, then a table for each part of each standard.

use std::fmt::Write as _;

use super::{Requirement, Scorecard, Standard, Status};

const HEAD: &str = "\
# Security scorecard

What the requirements of three standards come to in this project, one row each. A row is *met* only if it names a test that would fail if it
were no longer so, and a contract test looks for that test. *Not applicable* and *not met* have their reason in the last column; a setting
that a project can change is named there. Summaries are in our own words: the standards decide what a requirement is.

This page is written by `cargo run -p infra -- render` from the files in `infra/security/`. What is behind it: [how users sign in](sign-in.md),
[sessions and tokens](sessions.md), [decisions](decisions.md).

";

impl Scorecard {
    /// The page in Markdown.
    pub fn document(&self) -> String {
        let mut page = HEAD.to_owned();
        page.push_str("| standard | met | not applicable | not met | in all |\n|---|---|---|---|---|\n");
        for standard in &self.standards {
            for (name, rows) in standard.counted() {
                let counts = Status::ALL.map(|status| rows.iter().filter(|row| row.status == status).count().to_string());
                let _ = writeln!(page, "| {name} | {} | {} |", counts.join(" | "), rows.len());
            }
        }
        for standard in &self.standards {
            standard.write(&mut page);
        }
        page
    }
}

impl Standard {
    /// Its rows as they are counted: by level, or all together.
    fn counted(&self) -> Vec<(String, Vec<&Requirement>)> {
        if !self.counts_levels {
            return vec![(self.name.clone(), self.requirements.iter().collect())];
        }
        let mut levels: Vec<&str> = self.ids().map(|(_, level)| level.as_str()).collect();
        levels.sort_unstable();
        levels.dedup();
        let of = |level: &str| self.requirements.iter().filter(|row| row.level == level).collect();
        levels.into_iter().map(|level| (format!("{}, level {level}", self.name), of(level))).collect()
    }

    fn write(&self, page: &mut String) {
        let _ = writeln!(page, "\n## {}\n\n{} [The standard]({}).", self.name, self.about, self.url);
        for part in &self.parts {
            let _ = writeln!(
                page,
                "\n### {}\n\n| id | level | what it asks for | here | shown by, or why |\n|---|---|---|---|---|",
                part.heading
            );
            for row in part.ids.iter().filter_map(|(id, _)| self.row(id)) {
                let _ = writeln!(page, "| {} | {} | {} | {} | {} |", row.id, row.level, row.summary, row.status, row.evidence());
            }
        }
    }
}

impl Requirement {
    fn evidence(&self) -> String {
        let tests: Vec<String> = self.tests.iter().map(|test| format!("`{test}`")).collect();
        match (tests.is_empty(), self.reason.as_str()) {
            (true, reason) => reason.to_owned(),
            (false, "") => tests.join(", "),
            (false, reason) if self.status == Status::Met => format!("{}. {reason}", tests.join(", ")),
            (false, reason) => format!("{reason} Tests of what there is: {}", tests.join(", ")),
        }
    }
}
