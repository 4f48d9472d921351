//! `GET /api/v1/teams`: lists a user's teams page by page. By default, the teams are in the order
//! in which the user joined them. Servers can also list all teams, sorted by creation time.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::{Flag, IgnoredBody};
use api::product::page::{self, Limit, List, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::teams::limited_to;
use model::team::Team;
use model::team::view::TeamView;
use model::user::reference::UserRef;
use serde::Serialize;
use store::Listing;
use store::team::of_user::PartOfTeams;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

pub const ROUTE: Route = Route::get("teams-team-list", "/api/v1/teams")
    .summary("Lists the teams of a user or of the project")
    .table(&[BatchGetItem, Query])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamsQuery {
    /// A user's id, or `me`. Required with client access. The teams are in the order in which the
    /// user joined them, unless `order_by` is set.
    user_id: Option<UserRef>,
    /// 1 to 10,000. Default: 10,000. A page also ends when it reaches 1 MB.
    limit: Option<Limit<10_000, 10_000>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    order_by: Option<TeamOrder>,
    /// Whether to list the newest teams first. Default: `false`.
    desc: Flag,
    /// Selects teams whose name contains this text, and the team with this id. The search ignores
    /// case. A page of search results may contain fewer than `limit` teams even if more pages
    /// follow.
    query: Option<String>,
}

/// The order of a list of teams.
#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamOrder {
    #[deserr(rename = "created_at")]
    CreatedAt,
}

/// The number of teams that a search reads at once. A search reads up to three times as many teams
/// per page.
const SEARCHED: usize = 1000;

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<IgnoredBody, TeamsQuery>) -> Result<Json<List<TeamView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let own = limited_to(&access)?;
    match query.user_id {
        Some(user) => teams_of_user(&access, access.user_id(user)?, &query, limit).await,
        None if own.is_some() => Err(KnownError::Forbidden.into()),
        None => page(&access, query, limit).await,
    }
}

/// Whether a team has this id, or a name that contains these words.
fn has(id: TeamId, name: &str, words: Option<&str>) -> bool {
    words.is_none_or(|words| name.to_lowercase().contains(&words.to_lowercase()) || TeamId::parse(words) == Ok(id))
}

async fn teams_of_user(access: &Access<Client>, user: UserId, query: &TeamsQuery, limit: usize) -> Result<Json<List<TeamView>>, Error> {
    let (descending, by_creation) = (query.desc.is_set(), query.order_by.is_some());
    let order = (if by_creation { "created" } else { "joined" }, if descending { "desc" } else { "asc" });
    let cursors = Cursors::of(access, format_args!("teams/{user}/{}/{}", order.0, order.1));
    let part = PartOfTeams { after: cursors.position(query.cursor.as_deref())?, descending, by_creation, limit };
    let keep = |team: &Team| has(team.id, &team.display_name, query.query.as_deref());
    let page = access.app.store.teams_of(&access.project.id, user, part, keep).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    let items = page.rows.iter().map(|(_, team)| TeamView::of(team, access.level)).collect();
    Ok(Json(Page::new(items, next_cursor).into()))
}

async fn page(access: &Access<Client>, query: TeamsQuery, limit: usize) -> Result<Json<List<TeamView>>, Error> {
    let project = &access.project.id;
    let (descending, words) = (query.desc.is_set(), query.query.as_deref());
    let cursors = Cursors::of(access, if descending { "teams/desc" } else { "teams/asc" });
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let read = if words.is_some() { SEARCHED } else { limit.saturating_add(1) };
    let listing = Listing { after: after.as_deref(), descending, limit, read };
    let page = access.app.store.team_page(project, listing, |team| has(team.id, &team.display_name, words)).await?;
    let next_cursor = cursors.next(page.next.as_ref())?;
    let items = page.rows.iter().map(|team| TeamView::of(team, access.level)).collect();
    Ok(Json(Page::new(items, next_cursor).into()))
}
