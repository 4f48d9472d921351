//! `/outbox`: the emails of all projects on their way, newest first.

use std::collections::BTreeMap;

use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use model::outbox::status::Status;
use model::outbox::{OutboxEntry, Recipients, Stage};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::outbox::list::OutboxListing;
use strum::VariantArray as _;
use wire::id::{ProjectId, UserId};

use super::{Pages, Project, answer, outbox_entry, path_with};

/// How many entries a page lists at first, and at most.
const LISTED: usize = 100;
const MOST: usize = 5_000;
/// How many entries are read at once, and how many of a project a search looks at.
const READ: usize = 500;
const SEARCHED: usize = 20_000;

pub(super) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/outbox", get(list))
        .route("/outbox/{project}/{id}", get(outbox_entry::show).post(outbox_entry::act))
        .route("/outbox/{project}/{id}/html", get(outbox_entry::html))
        .with_state(pages)
}

#[derive(Deserialize, Default)]
struct Filter {
    #[serde(default)]
    q: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
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
    let limit = filter.limit.unwrap_or(LISTED).clamp(1, MOST);
    let projects = pages.projects().await?;
    let mut rows = Vec::new();
    for project in projects.iter().filter(|project| filter.project.is_empty() || project.id.as_str() == filter.project) {
        rows.extend(entries(pages, project, filter, limit + 1).await?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.created_at_millis));
    let has_more = rows.len() > limit && limit < MOST;
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

/// The newest entries of a project that a filter lets through.
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
        let wanted = |entry: &OutboxEntry| filter.status.is_empty() || entry.status().name() == filter.status;
        let page = pages.app.store.outbox_entries(&project.id, listing, wanted).await?;
        looked_at += READ;
        for entry in &page.entries {
            let row = Row::of(entry, project, addresses.of(pages, &project.id, &entry.to).await?);
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

/// The subject as it was rendered, or what it is rendered from.
pub(super) fn subject(entry: &OutboxEntry) -> String {
    let source = || model::document::builtin::sources(&entry.source).subject.to_owned();
    entry.rendered.as_ref().map_or_else(source, |rendered| rendered.subject.clone())
}

/// What went wrong, of an entry that ended or waits because of it.
pub(super) fn failure(entry: &OutboxEntry) -> Option<String> {
    match &entry.stage {
        Stage::RenderError { message, .. } | Stage::ServerError { message, .. } => Some(message.clone()),
        Stage::Skipped { reason, .. } => {
            let reason = serde_json::to_value(reason).ok()?;
            Some(reason.as_str()?.replace('_', " ").to_lowercase())
        }
        _ => None,
    }
}

/// A state in words.
pub(super) fn words(status: Status) -> String {
    status.name().replace('-', " ")
}

/// Which of the four kinds a state is.
pub(super) fn tone(status: Status) -> &'static str {
    match status {
        Status::Sent | Status::Opened | Status::Clicked => "done",
        Status::Preparing | Status::Rendering | Status::Scheduled | Status::Queued | Status::Sending | Status::DeliveryDelayed => "waiting",
        Status::RenderError | Status::ServerError | Status::Bounced | Status::MarkedAsSpam => "failed",
        Status::Paused | Status::Skipped => "aside",
    }
}

/// The addresses of users, each looked up once.
#[derive(Default)]
pub(super) struct Addresses(BTreeMap<UserId, String>);

impl Addresses {
    /// Whom an email goes to, by address.
    pub(super) async fn of(&mut self, pages: &Pages, project: &ProjectId, to: &Recipients) -> Result<String, store::Error> {
        let user = match to {
            Recipients::UserCustomEmails { emails, .. } | Recipients::CustomEmails { emails } if !emails.is_empty() => {
                return Ok(emails.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            }
            to => to.user_id(),
        };
        let Some(user) = user else { return Ok("nobody".to_owned()) };
        if let Some(known) = self.0.get(&user) {
            return Ok(known.clone());
        }
        let found = pages.app.store.user(project, user).await?;
        let address = match &found {
            Some(row) => row.user.primary().map_or_else(|| format!("user {user} without an address"), |channel| channel.value.to_string()),
            None => format!("deleted user {user}"),
        };
        self.0.insert(user, address.clone());
        Ok(address)
    }
}
