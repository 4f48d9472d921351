//! `GET /api/v1/teams`: the teams of a user in the order in which it joined them; for a server all teams by the time of their creation, in
//! pages.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::{Ignored, Param};
use api::product::page::{self, Pagination};
use api::product::{Access, Client, Input, cursor};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::teams::limited_to;
use model::team::view::TeamView;
use model::user::reference::UserRef;
use serde::Serialize;
use store::sharded::Listing;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

pub const ROUTE: Route = Route::get("teams-team-list", "/api/v1/teams")
    .summary("Lists the teams of a user, or of the project")
    .table(&[BatchGetItem, Query])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::Forbidden,
        ErrorCode::InvalidCursor,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamsQuery {
    /// A user's id, or `me`; a client has to name its user. The list has all teams of the user, and no pages.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
    /// 1 to 10,000, which is the default; a page also ends at 3 MB.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 10000)]
    #[deserr(default)]
    limit: Option<Param<usize>>,
    /// The `next_cursor` of the page before.
    #[deserr(default)]
    cursor: Option<String>,
    #[deserr(default, rename = "order_by")]
    #[schema(rename = "order_by")]
    _order_by: Option<TeamOrder>,
    /// Newest first.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    desc: Option<Param<bool>>,
    /// A part of a team's name in any case, or a team's id. A page of a search may be short.
    #[deserr(default)]
    query: Option<String>,
}

/// What teams are listed by.
#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamOrder {
    #[deserr(rename = "created_at")]
    CreatedAt,
}

#[derive(Serialize, ToSchema)]
pub struct Teams {
    items: Vec<TeamView>,
    is_paginated: bool,
    /// Absent when there are no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pagination: Option<Pagination>,
}

const MAX_LIMIT: usize = 10_000;
/// How many teams a search reads at once; three times as many for a page.
const SEARCHED: usize = 1000;

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, TeamsQuery>,
) -> Result<Json<Teams>, Error> {
    let limit = page::limit(query.limit, MAX_LIMIT, MAX_LIMIT, &ROUTE)?;
    let own = limited_to(&access)?;
    match query.user_id {
        Some(user) => of_user(&app, &access, access.user_id(user)?, query.query.as_deref()).await,
        None if own.is_some() => Err(KnownError::Forbidden.into()),
        None => page(&app, &access, query, limit).await,
    }
}

/// Whether a team has these words, or this id.
fn has(id: TeamId, name: &str, words: Option<&str>) -> bool {
    words.is_none_or(|words| name.to_lowercase().contains(&words.to_lowercase()) || TeamId::parse(words) == Ok(id))
}

async fn of_user(app: &App, access: &Access<Client>, user: UserId, words: Option<&str>) -> Result<Json<Teams>, Error> {
    let project = &access.project.id;
    let ids: Vec<TeamId> = app.store.memberships(project, user).await?.into_iter().map(|membership| membership.team_id).collect();
    let teams = app.store.teams(project, &ids).await?;
    let teams = ids.iter().filter_map(|id| teams.get(id)).filter(|team| has(team.id, &team.display_name, words));
    Ok(Json(Teams { items: teams.map(|team| TeamView::of(team, access.level)).collect(), is_paginated: false, pagination: None }))
}

async fn page(app: &App, access: &Access<Client>, query: TeamsQuery, limit: usize) -> Result<Json<Teams>, Error> {
    let project = &access.project.id;
    let (descending, words) = (query.desc.is_some_and(|desc| desc.0), query.query.as_deref());
    let list = if descending { "teams/desc" } else { "teams/asc" };
    let after: Option<String> = query.cursor.map(|cursor| cursor::decode(app, project, list, &cursor)).transpose()?;
    let read = if words.is_some() { SEARCHED } else { limit.saturating_add(1) };
    let listing = Listing { after: after.as_deref(), descending, limit, read };
    let page = app.store.team_page(project, listing, |team| has(team.id, &team.display_name, words)).await?;
    let next_cursor = page.next.map(|next| cursor::encode(app, project, list, &next)).transpose()?;
    let items = page.rows.iter().map(|team| TeamView::of(team, access.level)).collect();
    Ok(Json(Teams { items, is_paginated: true, pagination: Some(Pagination { next_cursor }) }))
}
