//! The page of the scorecard, which begins with counts, followed by a table for each part of each
//! standard.

use std::fmt::Write as _;

use super::{Requirement, Scorecard, Standard, Status};

const HEAD: &str = "\
# Security scorecard

This page shows how Gatelet meets the requirements of three standards, with one row for each
requirement. A row is *met* only if it names a test that would fail otherwise, and a contract test
verifies that the named test exists. For *not applicable* and *not met*, the last column gives the
reason, and the setting if a project can change the status. The summaries are in this project's own
words: only the texts of the standards define the requirements.

`cargo run -p infra -- render` writes this page from the files in `infra/security/`. Background:
[how users sign in](sign-in.md), [sessions and tokens](sessions.md), [decisions](decisions.md).

";

impl Scorecard {
    /// Renders the page in Markdown.
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
    /// The rows of the standard in the groups in which they are counted: by level, or all together.
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
            let _ =
                writeln!(page, "\n### {}\n\n| id | level | requirement | status | tests, or reason |\n|---|---|---|---|---|", part.heading);
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
            (false, reason) => format!("{reason} Related tests: {}", tests.join(", ")),
        }
    }
}
