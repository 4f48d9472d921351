//! `gateway audit …`: lists a project's audit log, exports it as JSON lines, and verifies its
//! trail.

mod api;

use std::collections::BTreeSet;
use std::io::{BufWriter, Write as _, stdout};

use anyhow::{Context as _, anyhow, ensure};
use clap::Subcommand;
use crypto::digest::Digest;
use crypto::trail_keys::TrailKeys;
use jiff::Timestamp;
use model::trail::check::{DayReport, ExpectedLink, Problem, RecordedLinks};
use model::trail::counted::minute;
use model::trail::view::AuditEntry;
use store::trail::list::TrailListing;
use wire::id::ProjectId;

use super::deployment::Session;
use super::input::project_id;
use super::tools::{Target, Tools};
use crate::say::say;

/// Entries per query.
const PAGE: usize = 500;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List what happened to a project of a deployment and to its accounts, newest first
    List(api::List),
    /// Write a project's entries to standard output, newest first, one JSON object per line
    Export {
        /// The project. Over the API, the default is the only project that your teams own
        #[arg(long, value_name = "ID")]
        project: Option<String>,
        /// Only entries at or after this time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        from: Option<Timestamp>,
        /// Only entries before this time (RFC 3339)
        #[arg(long, value_name = "TIME")]
        until: Option<Timestamp>,
    },
    /// Compare each day's entries with the links of the audit trail, which contain the digests of
    /// the entries; fails if an entry or a link is missing, was changed or was added
    Verify {
        /// Verify only the trail of this project
        #[arg(long, value_name = "ID")]
        project: Option<String>,
        /// A link that the trail of this project must contain, as the number and digest printed by
        /// an earlier run or logged by `workers-trail`. Detects whether the trail was reset to an
        /// earlier state
        #[arg(long, value_name = "NUMBER:DIGEST", requires = "project")]
        expect: Option<String>,
        /// Another link that the trail must contain. This link and earlier links are accepted even
        /// if late, because you have checked their entries
        #[arg(long, value_name = "NUMBER:DIGEST", requires = "project")]
        accept_late: Option<String>,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::List(command) => command.run(target).await,
            Self::Export { project, from, until } => {
                if let Some(session) = Session::chosen(target).await? {
                    return api::export(session, project.as_deref(), from, until).await;
                }
                let project = project.context("no project was given: add --project ID")?;
                export(&Tools::open(target).await?, &project_id(&project)?, from, until).await
            }
            Self::Verify { project, expect, accept_late } => {
                let tools = &Tools::open(target).await?;
                let parse = |link: Option<String>| link.as_deref().map(parse_expected).transpose();
                let recorded = RecordedLinks { expected: parse(expect)?, accepted: parse(accept_late)? };
                let named = project.as_deref().map(project_id).transpose()?;
                verify(tools, named, &recorded).await
            }
        }
    }
}

fn parse_expected(text: &str) -> anyhow::Result<ExpectedLink> {
    let parsed = text
        .split_once(':')
        .and_then(|(number, digest)| Some(ExpectedLink { number: number.parse().ok()?, digest: Digest::parse(digest)? }));
    parsed.with_context(|| {
        format!("{text:?} is not a link: expected a number and a digest, such as 12:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU")
    })
}

async fn export(tools: &Tools, id: &ProjectId, from: Option<Timestamp>, until: Option<Timestamp>) -> anyhow::Result<()> {
    let project = tools.store.project(id).await?.ok_or_else(|| anyhow!("project {id} does not exist"))?.project;
    let from = from.unwrap_or(Timestamp::MIN).max(minute(project.created_at));
    let (mut lines, mut after) = (BufWriter::new(stdout().lock()), None::<String>);
    loop {
        let now = tools.clock.now();
        let listing = TrailListing { user: None, from, until, after: after.as_deref(), limit: PAGE, read: PAGE, now };
        let page = tools.store.trail(id, listing, |entry| entry.is_since(project.created_at)).await?;
        for entry in page.rows {
            serde_json::to_writer(&mut lines, &AuditEntry::from(entry))?;
            lines.write_all(b"\n")?;
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    lines.flush()?;
    Ok(())
}

/// Verifies the trail of one project, or of all projects that have a record or a trail in the
/// table.
async fn verify(tools: &Tools, named: Option<ProjectId>, recorded: &RecordedLinks) -> anyhow::Result<()> {
    let (store, is_named) = (&tools.store, named.is_some());
    let projects = match named {
        Some(id) => BTreeSet::from([id]),
        None => store.projects().await?.into_iter().map(|line| line.id).chain(store.projects_with_trails().await?).collect(),
    };
    let mut wrong = 0;
    for project in &projects {
        say!("project {project}");
        match verify_one(tools, project, (is_named, recorded)).await {
            Ok(is_in_order) => wrong += usize::from(!is_in_order),
            Err(error) if is_named => return Err(error),
            // One damaged project must not hide the trails of the others.
            Err(error) => {
                say!("  cannot be verified: {error:#}");
                wrong += 1;
            }
        }
    }
    ensure!(wrong == 0, "found problems in the trails of {wrong} of {} projects (listed above)", projects.len());
    Ok(())
}

/// Verifies the trail of a project. Returns whether it is in order or the project is being deleted.
async fn verify_one(tools: &Tools, project: &ProjectId, (is_named, recorded): (bool, &RecordedLinks)) -> anyhow::Result<bool> {
    let store = &tools.store;
    if store.project(project).await?.is_none() {
        if store.project_ending(project).await?.is_some() {
            say!("  the project and its trail are being deleted");
            return Ok(true);
        }
        ensure!(!is_named || store.has_trail_head(project).await?, "project {project} does not exist");
    }
    is_in_order(tools, project, recorded).await
}

/// Prints the state of a project's trail; returns whether the trail is in order.
async fn is_in_order(tools: &Tools, project: &ProjectId, recorded: &RecordedLinks) -> anyhow::Result<bool> {
    let (keys, mut is_wrong) = (TrailKeys::new(&tools.secret), false);
    let report = |day: DayReport| {
        is_wrong |= day.problem.is_some();
        say!("{}", line(&day));
    };
    let report = tools.store.check_trail(project, &keys, recorded.clone(), tools.clock.now(), report).await?;
    for problem in &report.problems {
        say!("  {problem}");
    }
    match &report.last {
        Some((number, digest)) => say!("  last link: {number}:{digest}"),
        None => say!("  no links"),
    }
    Ok(!is_wrong && report.problems.is_empty())
}

fn line(day: &DayReport) -> String {
    let many = |count: usize, one: &str, more: &str| format!("{count} {}", if count == 1 { one } else { more });
    let (entries, links) = (many(day.entries, "entry", "entries"), many(day.links, "link", "links"));
    let state = day.problem.as_ref().map_or_else(|| "in order".to_owned(), Problem::to_string);
    let unlinked = if day.unlinked > 0 { format!(", {} not yet linked", day.unlinked) } else { String::new() };
    format!("  {}  {entries}, {links}: {state}{unlinked}", day.day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_reported_on_one_line() {
        let day = DayReport { day: "2026-01-02".parse().unwrap(), entries: 12, links: 1, unlinked: 0, problem: None };
        assert_eq!(line(&day), "  2026-01-02  12 entries, 1 link: in order");
        let problem = Some(Problem::EntryMissing("0197".to_owned()));
        let day = DayReport { entries: 1, links: 2, unlinked: 3, problem, ..day };
        assert_eq!(line(&day), "  2026-01-02  1 entry, 2 links: entry 0197 is missing, 3 not yet linked");
    }

    #[test]
    fn an_expected_link_is_a_number_and_a_digest() {
        let digest = Digest::of("link");
        assert_eq!(parse_expected(&format!("12:{digest}")).unwrap(), ExpectedLink { number: 12, digest });
        for text in ["", "12", "12:", "x:y", ":47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"] {
            assert!(parse_expected(text).is_err(), "{text}");
        }
    }
}
