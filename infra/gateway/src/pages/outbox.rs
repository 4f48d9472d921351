//! `/outbox`: the outbox entries of all projects, newest first.

use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use model::outbox::OutboxEntry;
use model::outbox::status::Status;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::outbox::list::OutboxListing;
use strum::VariantArray as _;
use wire::id::ProjectId;

use super::outbox_words::{Addresses, failure, subject, tone, words};
use super::request::path_with;
use super::state::{Pages, Project};
use super::{answer, outbox_entry};

/// The number of entries that are listed by default.
const LISTED: usize = 100;
/// The maximum number of entries that are listed.
const MAX_ENTRIES: usize = 5_000;
/// The number of entries that are read per query.
const READ: usize = 500;
/// The maximum number of entries of a project that are examined to find matches of the filter.
const SEARCHED: usize = 20_000;

pub(super) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/outbox", get(list))
        .route("/outbox/{project}/{id}", get(outbox_entry::show).post(outbox_entry::act))
        .route("/outbox/{project}/{id}/html", get(outbox_entry::html))
        .with_state(pages)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Filter {
    q: String,
    status: String,
    project: String,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    project_id: ProjectId,
    project: String,
    subject: String,
    to: String,
    status: String,
    tone: &'static str,
    failure: Option<String>,
    created_at_millis: i64,
}

async fn list(State(pages): State<Pages>, Query(filter): Query<Filter>) -> Response {
    match listed(&pages, &filter).await {
        Ok(response) => response,
        Err(error) => answer::failed(&error.into()),
    }
}

async fn listed(pages: &Pages, filter: &Filter) -> Result<Response, store::Error> {
    let limit = filter.limit.unwrap_or(LISTED).clamp(1, MAX_ENTRIES);
    let projects = pages.projects().await?;
    let mut rows = Vec::new();
    for project in projects.iter().filter(|project| filter.project.is_empty() || project.id.as_str() == filter.project) {
        rows.extend(entries(pages, project, filter, limit + 1).await?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.created_at_millis));
    let has_more = rows.len() > limit && limit < MAX_ENTRIES;
    rows.truncate(limit);
    let parameters = [("q", &*filter.q), ("status", &*filter.status), ("project", &*filter.project)];
    let more = has_more.then(|| path_with("/outbox", &[&parameters[..], &[("limit", &*(limit * 2).to_string())]].concat()));
    let states: Vec<_> = Status::VARIANTS.iter().map(|status| json!({ "value": status.name(), "label": words(*status) })).collect();
    Ok(pages.page(
        "outbox",
        "/outbox",
        json!({
            "q": filter.q,
            "status": filter.status,
            "project": filter.project,
            "is_filtered": parameters.iter().any(|(_, value)| !value.is_empty()),
            "projects": projects,
            "states": states,
            "entries": rows,
            "more": more,
            "first": pages.first_email(),
        }),
    ))
}

/// A project's newest outbox entries that match the filter.
async fn entries(pages: &Pages, project: &Project, filter: &Filter, limit: usize) -> Result<Vec<Row>, store::Error> {
    let Some(row) = pages.app.store.project(&project.id).await? else { return Ok(Vec::new()) };
    let (mut start, mut rows, mut looked_at) = (None, Vec::new(), 0);
    let mut addresses = Addresses::default();
    let part = filter.q.trim().to_lowercase();
    loop {
        let listing = OutboxListing {
            start: start.as_ref(),
            oldest: row.project.created_at,
            limit: READ.min(limit),
            read: READ,
            now: pages.app.clock.now(),
        };
        let wanted = |entry: OutboxEntry| {
            let size = entry.bytes();
            (filter.status.is_empty() || entry.status().name() == filter.status).then_some((entry, size))
        };
        let page = pages.app.store.outbox_entries(&project.id, listing, wanted).await?;
        looked_at += READ;
        for entry in &page.entries {
            let row = Row::of(entry, project, addresses.text(pages, &project.id, &entry.to).await?);
            if part.is_empty() || row.subject.to_lowercase().contains(&part) || row.to.to_lowercase().contains(&part) {
                rows.push(row);
            }
            if rows.len() >= limit {
                return Ok(rows);
            }
        }
        if page.next.is_none() || looked_at >= SEARCHED {
            return Ok(rows);
        }
        start = page.next;
    }
}

impl Row {
    fn of(entry: &OutboxEntry, project: &Project, to: String) -> Self {
        let entry = &*entry.shown();
        let status = entry.status();
        Self {
            id: entry.id.to_string(),
            project_id: project.id.clone(),
            project: project.name.clone(),
            subject: subject(entry),
            to,
            status: words(status),
            tone: tone(status),
            failure: failure(entry).map(|text| text.lines().next().unwrap_or_default().to_owned()),
            created_at_millis: entry.created_at.as_millisecond(),
        }
    }
}
