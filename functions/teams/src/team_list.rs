//! `GET /api/v1/teams`: lists a user's teams in the order in which the user joined them. For
//! servers it also lists all teams by creation time, page by page.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::{Ignored, Param};
use api::product::page::{self, Limit, List, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::teams::limited_to;
use model::team::view::TeamView;
use model::user::reference::UserRef;
use serde::Serialize;
use store::sharded::Listing;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

pub const ROUTE: Route = Route::get("teams-team-list", "/api/v1/teams")
    .summary("Lists the teams of a user or of the project")
    .table(&[BatchGetItem, Query])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::InvalidCursor]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamsQuery {
    /// A user's id, or `me`. Required for client access. The list has all teams of the user on one
    /// page.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
    /// 1 to 10,000. Default: 10,000. A page also ends at 3 MB.
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 10000)]
    #[deserr(default)]
    limit: Option<Limit<10_000, 10_000>>,
    /// The `next_cursor` of the previous page.
    #[deserr(default)]
    cursor: Option<String>,
    #[deserr(default, rename = "order_by")]
    #[schema(rename = "order_by")]
    _order_by: Option<TeamOrder>,
    /// Whether to list the newest first. Default: `false`.
    #[schema(value_type = Option<bool>)]
    #[deserr(default)]
    desc: Option<Param<bool>>,
    /// Only teams whose name contains this text (case does not matter), or the team with this id.
    /// Pages of a search may be short.
    #[deserr(default)]
    query: Option<String>,
}

/// The order of a list of teams.
#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamOrder {
    #[deserr(rename = "created_at")]
    CreatedAt,
}

/// Number of teams that a search reads at once; it reads up to three times as many per page.
const SEARCHED: usize = 1000;

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<Ignored, TeamsQuery>) -> Result<Json<List<TeamView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let own = limited_to(&access)?;
    match query.user_id {
        Some(user) => of_user(&access, access.user_id(user)?, query.query.as_deref()).await,
        None if own.is_some() => Err(KnownError::Forbidden.into()),
        None => page(&access, query, limit).await,
    }
}

/// Whether a team has this id, or these words in its name.
fn has(id: TeamId, name: &str, words: Option<&str>) -> bool {
    words.is_none_or(|words| name.to_lowercase().contains(&words.to_lowercase()) || TeamId::parse(words) == Ok(id))
}

async fn of_user(access: &Access<Client>, user: UserId, words: Option<&str>) -> Result<Json<List<TeamView>>, Error> {
    let project = &access.project.id;
    let ids: Vec<TeamId> = access.app.store.memberships(project, user).await?.into_iter().map(|membership| membership.team_id).collect();
    let teams = access.app.store.teams(project, &ids).await?;
    let teams = ids.iter().filter_map(|id| teams.get(id)).filter(|team| has(team.id, &team.display_name, words));
    Ok(Json(List::whole(teams.map(|team| TeamView::of(team, access.level)).collect())))
}

async fn page(access: &Access<Client>, query: TeamsQuery, limit: usize) -> Result<Json<List<TeamView>>, Error> {
    let project = &access.project.id;
    let (descending, words) = (query.desc.is_some_and(|desc| desc.0), query.query.as_deref());
    let cursors = Cursors::of(access, if descending { "teams/desc" } else { "teams/asc" });
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let read = if words.is_some() { SEARCHED } else { limit.saturating_add(1) };
    let listing = Listing { after: after.as_deref(), descending, limit, read };
    let page = access.app.store.team_page(project, listing, |team| has(team.id, &team.display_name, words)).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    let items = page.rows.iter().map(|team| TeamView::of(team, access.level)).collect();
    Ok(Json(Page::new(items, next_cursor).into()))
}
