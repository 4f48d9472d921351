//! `POST /api/v1/internal/onboarding/preview-affected-users`: lists the users whom a change of the
//! onboarding settings would restrict, without making the change.
//!
//! A request examines only a limited number of users. If there are more users, the response
//! contains a cursor. The counts of all pages add up to the number of affected users.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::page::{self, Limit, Pagination};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use model::email::Email;
use model::user::User;
use model::user::restriction::RestrictedReason;
use serde::Serialize;
use store::Listing;
use store::user::list::UserPage;
use utoipa::ToSchema;
use wire::id::UserId;

pub const ROUTE: Route = Route::post("users-onboarding-preview", "/api/v1/internal/onboarding/preview-affected-users")
    .summary("Lists the users whom a change to onboarding would restrict")
    .writes_nothing()
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

/// The maximum number of affected users that one request counts. A request examines up to three
/// times as many users.
const COUNTED: usize = 1000;

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PreviewQuery {
    /// The number of affected users to list, from 1 to 100. Default: 10.
    limit: Option<Limit<10, 100>>,
    /// The `next_cursor` of the previous response.
    cursor: Option<String>,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PreviewedChange {
    onboarding: PreviewedOnboarding,
}

/// The onboarding settings after the change.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PreviewedOnboarding {
    /// Absent for no change.
    require_email_verification: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those of the response")]
pub struct AffectedUsers {
    /// The first of the affected users, oldest first.
    affected_users: Vec<AffectedUser>,
    /// The number of examined users who are affected.
    total_affected_count: usize,
    pagination: Pagination,
}

/// A user who would be restricted.
#[derive(Serialize, ToSchema)]
pub struct AffectedUser {
    id: UserId,
    display_name: Option<String>,
    primary_email: Option<Email>,
    restricted_reason: RestrictedReason,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, query, .. }: Input<PreviewedChange, PreviewQuery>,
) -> Result<Json<AffectedUsers>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (project, now) = (&access.project.id, &access.project.config);
    let mut then = now.clone();
    then.require_email_verification = body.onboarding.require_email_verification.unwrap_or(now.require_email_verification);
    let cursors = Cursors::of(&access, "users/onboarding-preview");
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let is_affected = |user: &User| user.restricted_reason(now).is_none() && user.restricted_reason(&then).is_some();
    let page = if then.require_email_verification && !now.require_email_verification {
        let listing = Listing { after: after.as_deref(), descending: false, limit: COUNTED, read: COUNTED };
        app.store.users(project, listing, is_affected).await?
    } else {
        UserPage { rows: Vec::new(), next: None }
    };
    let next_cursor = cursors.next(page.next.as_ref())?;
    let total_affected_count = page.rows.len();
    let affected_users = page.rows.into_iter().take(limit).filter_map(|row| {
        let restricted_reason = row.user.restricted_reason(&then)?;
        let primary_email = row.user.primary().map(|channel| channel.value.clone());
        Some(AffectedUser { id: row.user.id, display_name: row.user.display_name, primary_email, restricted_reason })
    });
    Ok(Json(AffectedUsers { affected_users: affected_users.collect(), total_affected_count, pagination: Pagination { next_cursor } }))
}
