//! `GET /api/v1/users/me/activity`: lists the events of the signed-in user's account, newest first,
//! page by page. A page may be short or empty even if more pages follow.
//!
//! Users see which events occurred, when, and from where. If an administrator or a server made the
//! change, users do not see who made it and from where it was made.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use jiff::Timestamp;
use model::trail::Entry;
use model::trail::view::Activity;
use store::trail::list::TrailListing;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("users-me-activity", "/api/v1/users/me/activity")
    .summary("Lists what happened to the account of the signed-in user, newest first")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ActivityQuery {
    /// 1 to 100. Default: 50.
    limit: Option<Limit<50, 100>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<IgnoredBody, ActivityQuery>) -> Result<Json<Page<Activity>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (project, user) = (&access.project.id, access.own_user()?.row.user.id);
    let cursors = Cursors::of(&access, format_args!("activity/{user}"));
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let listing = TrailListing {
        user: Some(user),
        from: Timestamp::UNIX_EPOCH,
        until: None,
        after: after.as_deref(),
        limit,
        read: limit + 1,
        now: access.app.clock.now(),
    };
    // The entries come from an index, so the user in each entry is checked again. Entries without
    // events, for example about changed metadata, are not relevant to the user.
    let tells = |entry: &Entry| entry.user_id == Some(user) && !entry.events.is_empty();
    let page = access.app.store.trail(project, listing, tells).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    Ok(Json(Page::new(page.rows.into_iter().map(|entry| Activity::of(entry, user)).collect(), next_cursor)))
}
