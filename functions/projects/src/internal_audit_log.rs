//! `GET /api/v1/internal/audit-log`: lists the events of the project and its accounts, newest
//! first, as pages or as JSON lines.
//!
//! The entries of a project are read day by day. The entries of a user are read from an index. A
//! search reads a limited number of entries per page, so a page may be short or empty and still
//! have a `next_cursor`. Following the cursors finds every match.

use std::str::FromStr;

use api::http::TableAction::{BatchGetItem, Query};
use api::http::describe::{Describe, Description, SchemaParts};
use api::http::{Json, JsonLines, Route};
use api::product::cursor::Cursors;
use api::product::input::{IgnoredBody, Param};
use api::product::page::{self, Limit, Page};
use api::product::{Access, Admin, Input};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use jiff::Timestamp;
use model::trail::counted::minute;
use model::trail::view::AuditEntry;
use model::trail::{Actor, Entry, Event};
use serde::Serialize;
use store::trail::list::TrailListing;
use url::form_urlencoded::Serializer;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::UserId;
use wire::problem::Problems;

pub const ROUTE: Route = Route::get("projects-internal-audit-log", "/api/v1/internal/audit-log")
    .summary("Lists what happened to the project and its accounts, newest first")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AuditQuery {
    /// Selects entries about the user with this id.
    #[schema(value_type = Option<Uuid>)]
    user_id: Option<UserId>,
    /// Selects entries whose actor has this id. An actor is a user, an operator or a set of API
    /// keys.
    #[schema(value_type = Option<Uuid>)]
    actor: Option<UserId>,
    /// Selects entries from the operation with this name, such as `auth-password-sign-in`.
    operation: Option<String>,
    /// Selects entries with this event.
    event: Option<Event>,
    /// The earliest time of an entry (RFC 3339). Send a `+` as `%2B`.
    #[schema(value_type = Option<String>, format = DateTime)]
    from: Option<Param<Time>>,
    /// Selects entries before this time (RFC 3339). Send a `+` as `%2B`.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Param<Time>>,
    /// 1 to 100. Default: 50.
    limit: Option<Limit<50, 100>>,
    /// The `next_cursor` of the previous page. The cursor must be sent with the same filters.
    cursor: Option<String>,
    /// With `jsonl`, each entry is a line, and the `Link` header contains the URL of the next page.
    format: Option<Format>,
}

/// The format of the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserr, ToSchema)]
#[schema(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum Format {
    Json,
    Jsonl,
}

/// An RFC 3339 time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Time(Timestamp);

impl FromStr for Time {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| "must be an RFC 3339 time such as 2026-01-01T12:00:00Z, with a + sent as %2B")
    }
}

/// A page in the requested format.
pub enum Entries {
    Json(Json<Page<AuditEntry>>),
    Lines(JsonLines<AuditEntry>),
}

impl IntoResponse for Entries {
    fn into_response(self) -> Response {
        match self {
            Self::Json(page) => page.into_response(),
            Self::Lines(lines) => lines.into_response(),
        }
    }
}

impl Describe for Entries {
    fn describe(description: &mut Description) {
        description.answer = Some(SchemaParts::of::<Page<AuditEntry>>());
        description.text = Some(JsonLines::<AuditEntry>::MEDIA_TYPE);
    }
}

/// The number of entries that a search reads at once.
const READ_AT_ONCE: usize = 250;
/// The maximum length of an operation's name.
const MAX_NAME: usize = 64;

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, AuditQuery>) -> Result<Entries, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    check(&query)?;
    let (project, cursors) = (&access.project, Cursors::of(&access, list(&query)));
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let is_search = query.actor.is_some() || query.operation.is_some() || query.event.is_some();
    let listing = TrailListing {
        user: query.user_id,
        from: query.from.map_or(Timestamp::MIN, |from| from.0.0).max(minute(project.created_at)),
        until: query.until.map(|until| until.0.0),
        after: after.as_deref(),
        limit,
        read: if is_search { READ_AT_ONCE } else { limit + 1 },
        now: access.app.clock.now(),
    };
    let page = access.app.store.trail(&project.id, listing, |entry| entry.is_since(project.created_at) && is_wanted(&query, entry)).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    let items: Vec<AuditEntry> = page.rows.into_iter().map(AuditEntry::from).collect();
    if query.format == Some(Format::Jsonl) {
        let next = next_cursor.map(|cursor| format!("{}?{}", ROUTE.path, next_query(&query, limit, &cursor)));
        return Ok(Entries::Lines(JsonLines { items, next }));
    }
    Ok(Entries::Json(Json(Page::new(items, next_cursor))))
}

fn check(query: &AuditQuery) -> Result<(), KnownError> {
    let problem = |path: &str, message: &str| Err(ROUTE.schema_error(&Problems::one(path, message)));
    let is_name = |text: &str| {
        let is_of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_of_name)
    };
    if query.operation.as_deref().is_some_and(|name| !is_name(name)) {
        return problem("query.operation", "must be the name of an operation, such as auth-password-sign-in");
    }
    if query.from.zip(query.until).is_some_and(|(from, until)| from.0 >= until.0) {
        return problem("query.from", "must be before until");
    }
    Ok(())
}

fn is_wanted(query: &AuditQuery, entry: &Entry) -> bool {
    query.actor.is_none_or(|actor| id_of(entry.actor) == Some(actor.uuid()))
        && query.operation.as_deref().is_none_or(|operation| operation == entry.operation)
        && query.event.is_none_or(|event| entry.events.contains(&event))
}

fn id_of(actor: Actor) -> Option<Uuid> {
    match actor {
        Actor::User { user_id, .. } | Actor::Operator { user_id } => Some(user_id.uuid()),
        Actor::Key { key_set_id, .. } => Some(key_set_id.uuid()),
        Actor::Anonymous | Actor::System => None,
    }
}

/// The name of the list, to which cursors are bound. The name includes the filters of the list.
fn list(query: &AuditQuery) -> String {
    let times = (query.from.map(|from| from.0), query.until.map(|until| until.0));
    serde_json::json!(["audit-log", query.user_id, query.actor, query.operation, query.event, times.0, times.1]).to_string()
}

/// The query of the next page, in the same format.
fn next_query(query: &AuditQuery, limit: usize, cursor: &str) -> String {
    let event = query.event.and_then(|event| serde_json::to_value(event).ok());
    let optional = [
        ("user_id", query.user_id.map(|id| id.to_string())),
        ("actor", query.actor.map(|id| id.to_string())),
        ("operation", query.operation.clone()),
        ("event", event.and_then(|event| event.as_str().map(str::to_owned))),
        ("from", query.from.map(|from| from.0.0.to_string())),
        ("until", query.until.map(|until| until.0.0.to_string())),
    ];
    let given = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let own = [("limit", limit.to_string()), ("format", "jsonl".to_owned()), ("cursor", cursor.to_owned())];
    Serializer::new(String::new()).extend_pairs(given.chain(own)).finish()
}
