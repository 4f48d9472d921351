//! `GET /api/v1/emails/outbox`: lists the outbox, newest first.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::{IgnoredBody, Param};
use api::product::page::{self, Limit, Page};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use model::outbox::OutboxEntry;
use model::outbox::status::{SimpleStatus, Status};
use model::outbox::view::OutboxView;
use store::outbox::list::{ListPosition, OutboxListing};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("emails-outbox-list", "/api/v1/emails/outbox")
    .summary("Lists the emails in the outbox, newest first")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ListQuery {
    status: Option<Param<Status>>,
    simple_status: Option<Param<SimpleStatus>>,
    /// 1 to 100. Default: 100.
    limit: Option<Limit<100, 100>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// The size of an entry in the response, which contains the HTML source twice.
fn size(entry: &OutboxEntry) -> usize {
    entry.bytes() + entry.source.html.as_ref().map_or(0, String::len)
}

/// The number of entries that a search reads at once.
const READ_AT_ONCE: usize = 340;

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { query, .. }: Input<IgnoredBody, ListQuery>,
) -> Result<Json<Page<OutboxView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (project, now) = (&access.project, app.clock.now());
    let cursors = Cursors::of(&access, "outbox");
    let start: Option<ListPosition> = cursors.position(query.cursor.as_deref())?;
    let wanted = |entry: OutboxEntry| {
        let (status, size) = (entry.status(), size(&entry));
        let has_status = query.status.is_none_or(|wanted| wanted.0 == status);
        let is_wanted = has_status && query.simple_status.is_none_or(|wanted| wanted.0 == status.simple());
        is_wanted.then_some((entry, size))
    };
    // A search may skip many entries. A list without a filter reads only one entry more than fits
    // on a page, to find out whether another page follows.
    let is_search = query.status.is_some() || query.simple_status.is_some();
    let read = if is_search { READ_AT_ONCE } else { limit + 1 };
    let listing = OutboxListing { start: start.as_ref(), oldest: project.created_at, limit, read, now };
    let page = app.store.outbox_entries(&project.id, listing, wanted).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    let entries = app.store.with_bodies(&project.id, page.entries, now).await?;
    Ok(Json(Page::new(entries.iter().map(|entry| OutboxView::of(entry, now)).collect(), next_cursor)))
}
