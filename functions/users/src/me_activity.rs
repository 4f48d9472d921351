//! `GET /api/v1/users/me/activity`: what happened to the account of the signed-in user, newest first, in pages.
//!
//! Users learn what happened and when, and where they or strangers were; of administrators and servers they learn that it was one.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::{Ignored, Param};
use api::product::page::{self, Pagination};
use api::product::{Access, Client, Input, cursor};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use jiff::Timestamp;
use model::trail::view::Activity;
use serde::Serialize;
use store::trail::list::TrailListing;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("users-me-activity", "/api/v1/users/me/activity")
    .summary("Lists what happened to the account of the signed-in user, newest first")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::InvalidCursor]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ActivityQuery {
    /// 1 to 100; 50 by default.
    #[schema(value_type = Option<u8>, minimum = 1, maximum = 100)]
    #[deserr(default)]
    limit: Option<Param<usize>>,
    /// The `next_cursor` of the page before.
    #[deserr(default)]
    cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub struct Activities {
    items: Vec<Activity>,
    is_paginated: bool,
    pagination: Pagination,
}

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 100;

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, ActivityQuery>,
) -> Result<Json<Activities>, Error> {
    let limit = page::limit(query.limit, DEFAULT_LIMIT, MAX_LIMIT, &ROUTE)?;
    let (project, user) = (&access.project.id, access.own_user()?.row.user.id);
    let list = format!("activity/{user}");
    let after: Option<String> = query.cursor.map(|cursor| cursor::decode(&app, project, &list, &cursor)).transpose()?;
    let listing = TrailListing {
        user: Some(user),
        from: Timestamp::UNIX_EPOCH,
        until: None,
        after: after.as_deref(),
        limit,
        read: limit + 1,
        now: app.clock.now(),
    };
    // What the index has is looked at again: it says whose an entry is, and so does the entry.
    let page = app.store.trail(project, listing, |entry| entry.user_id == Some(user)).await?;
    Ok(Json(Activities {
        items: page.rows.into_iter().map(|entry| Activity::of(entry, user)).collect(),
        is_paginated: true,
        pagination: Pagination { next_cursor: page.next.map(|next| cursor::encode(&app, project, &list, &next)).transpose()? },
    }))
}
