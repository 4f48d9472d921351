//! `GET /api/v1/emails/outbox`: the entries of the outbox, newest first.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::{Ignored, Param};
use api::product::page::{self, Pagination};
use api::product::{Access, Input, Server, cursor};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use model::outbox::OutboxEntry;
use model::outbox::status::{SimpleStatus, Status};
use model::outbox::view::OutboxView;
use serde::Serialize;
use store::outbox::list::{ListPosition, OutboxListing};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("emails-outbox-list", "/api/v1/emails/outbox")
    .summary("Lists the entries of the outbox, newest first")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ListQuery {
    #[schema(value_type = Option<Status>)]
    #[deserr(default)]
    status: Option<Param<Status>>,
    #[schema(value_type = Option<SimpleStatus>)]
    #[deserr(default)]
    simple_status: Option<Param<SimpleStatus>>,
    /// 1 to 100; 100 by default.
    #[schema(value_type = Option<u8>, minimum = 1, maximum = 100)]
    #[deserr(default)]
    limit: Option<Param<usize>>,
    /// The `next_cursor` of the page before.
    #[deserr(default)]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Entries {
    /// A search may give pages that are short, or empty, before the last.
    items: Vec<OutboxView>,
    is_paginated: bool,
    pagination: Pagination,
}

const LIST: &str = "outbox";
const MAX_LIMIT: usize = 100;
/// How many entries a search reads at once.
const READ_AT_ONCE: usize = 200;

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { query, .. }: Input<Ignored, ListQuery>,
) -> Result<Json<Entries>, Error> {
    let limit = page::limit(query.limit, MAX_LIMIT, MAX_LIMIT, &ROUTE)?;
    let (project, now) = (&access.project, app.clock.now());
    let start: Option<ListPosition> = query.cursor.map(|cursor| cursor::decode(&app, &project.id, LIST, &cursor)).transpose()?;
    let wanted = |entry: &OutboxEntry| {
        let status = entry.status();
        query.status.is_none_or(|wanted| wanted.0 == status) && query.simple_status.is_none_or(|wanted| wanted.0 == status.simple())
    };
    // A search passes over many entries, a list only looks whether there is one more.
    let is_search = query.status.is_some() || query.simple_status.is_some();
    let read = if is_search { READ_AT_ONCE } else { limit + 1 };
    let listing = OutboxListing { start: start.as_ref(), oldest: project.created_at, limit, read, now };
    let page = app.store.outbox_entries(&project.id, listing, wanted).await?;
    let next_cursor = page.next.map(|next| cursor::encode(&app, &project.id, LIST, &next)).transpose()?;
    let entries = app.store.with_bodies(&project.id, page.entries, now).await?;
    let items = entries.iter().map(|entry| OutboxView::of(entry, now)).collect();
    Ok(Json(Entries { items, is_paginated: true, pagination: Pagination { next_cursor } }))
}
