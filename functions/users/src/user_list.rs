//! `GET /api/v1/users`: lists the users of the project page by page, sorted by time of sign-up or
//! by last activity.
//!
//! `starts_with` uses an index of the beginnings of names and addresses, so it is fast for any
//! number of users. A `query` may match in the middle of a word, where an index does not help. The
//! search therefore scans the list, and examines a limited number of users for each page.
//! `starts_with` also scans the list until the project's index contains all users. A page of a scan
//! may be short or empty and still have a `next_cursor`. Following the cursors finds every match.

use std::collections::BTreeSet;

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::{Flag, IgnoredBody, Param};
use api::product::page::{self, Limit, Page};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use model::project::Project;
use model::user::User;
use model::user::filter::UserFilter;
use model::user::search::Search;
use model::view::user::ServerUser;
use store::Listing;
use store::user::UserRow;
use store::user::list::UserPage;
use utoipa::ToSchema;
use wire::id::TeamId;
use wire::problem::Problems;

use crate::accounts::list_flags::UserOrder;

pub const ROUTE: Route = Route::get("users-user-list", "/api/v1/users")
    .summary("Lists the users of the project")
    .table(&[BatchGetItem, GetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ListQuery {
    /// 1 to 200. Default: 100.
    limit: Option<Limit<100, 200>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Default: `signed_up_at`. `last_active_at` cannot be combined with `team_id`. Users who
    /// become active between two requests may be listed twice or not at all.
    order_by: Option<UserOrder>,
    /// Whether to list the latest users first. Default: `false`.
    desc: Option<Param<bool>>,
    /// Selects users whose display name or email addresses contain each word of this text, and the
    /// user with this id. Case and accents are ignored. A page of search results may contain fewer
    /// than `limit` users even if more pages follow.
    query: Option<String>,
    /// Selects users with a primary or sign-in email address that begins with this text. Also
    /// selects users with this id, and users whose display name has this text at the beginning of
    /// one of its first three words. Case and accents are ignored. The text may contain several
    /// words in any order. The users are sorted by the matching addresses and words. Until the
    /// index contains all users, they are sorted by sign-up time. The parameter cannot be combined
    /// with `query`, `order_by`, `desc` or `team_id`.
    starts_with: Option<String>,
    /// Selects the members of this team.
    team_id: Option<TeamId>,
    /// Whether to include restricted users. Default: `false`.
    include_restricted: Flag,
    /// Whether to include restricted and anonymous users. Default: `false`.
    include_anonymous: Flag,
    /// Only anonymous users. Requires `include_anonymous`.
    only_anonymous: Flag,
}

/// The number of users that a search reads at once. A search reads up to three times as many users
/// per page.
const SEARCHED: usize = 1000;
/// The number of matches that a page of the index reads in addition to one and a quarter times the
/// page's limit.
const REPEATED: usize = 10;

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { query, .. }: Input<IgnoredBody, ListQuery>,
) -> Result<Json<Page<ServerUser>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let filter = filter(&query);
    let by_activity = query.order_by == Some(UserOrder::LastActiveAt);
    check(&query, &filter, by_activity)?;
    let project = &access.project;
    let is_indexed = filter.beginning.is_some() && app.store.totals(&project.id).await?.lists_words;
    let descending = query.desc.is_some_and(|desc| desc.0);
    let order = if descending { "desc" } else { "asc" };
    let list = match (query.team_id, &filter.beginning) {
        (Some(team), _) => format!("users/{team}/{order}"),
        (None, Some(search)) if is_indexed => format!("users/starting/{}", search.text()),
        (None, _) if by_activity => format!("users/active/{order}"),
        (None, _) => format!("users/{order}"),
    };
    let cursors = Cursors::of(&access, list);
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let is_scan = filter.words.is_some() || filter.beginning.is_some() && !is_indexed;
    let read = match (is_scan, is_indexed) {
        (true, _) => SEARCHED,
        // Some matches belong to users who are already listed for another word.
        (false, true) => limit + limit / 4 + REPEATED,
        (false, false) => limit + 1,
    };
    let known = if query.team_id.is_none() { by_id(&app, project, &filter).await? } else { None };
    let mut listing = Listing { after: after.as_deref(), descending, limit, read };
    let source = match (query.team_id, &filter.beginning) {
        (Some(team), _) => Source::Team(team),
        (None, Some(search)) if is_indexed => Source::Words(search),
        (None, _) if by_activity => Source::Activity,
        (None, _) => Source::SignUp,
    };
    loop {
        let page = match &known {
            Some(row) => UserPage { rows: vec![row.clone()], next: None },
            None => source.read(&app, project, listing, |user| filter.takes(user, &project.config)).await?,
        };
        let items = views(&app, project, &page.rows).await?;
        let count = page::fitting(&items);
        if count == items.len() {
            return Ok(Json(Page::new(items, cursors.next(page.next.as_ref())?)));
        }
        // Users are shown with their selected teams. Teams may have much metadata, so the page may
        // have room for fewer users than were read. Only the users that fit are then read again,
        // which yields the cursor of the next page.
        listing.limit = count;
    }
}

/// The source of the users in a list.
enum Source<'a> {
    Team(TeamId),
    Words(&'a Search),
    Activity,
    SignUp,
}

impl Source<'_> {
    async fn read(
        &self,
        app: &App,
        project: &Project,
        listing: Listing<'_>,
        takes: impl Fn(&User) -> bool,
    ) -> Result<UserPage, store::Error> {
        match self {
            Self::Team(team) => app.store.users_of_team(&project.id, *team, listing, takes).await,
            Self::Words(search) => app.store.users_by_word(&project.id, search, listing, takes).await,
            Self::Activity => app.store.users_by_activity(&project.id, listing, takes).await,
            Self::SignUp => app.store.users(&project.id, listing, takes).await,
        }
    }
}

async fn views(app: &App, project: &Project, rows: &[UserRow]) -> Result<Vec<ServerUser>, store::Error> {
    let selected: BTreeSet<TeamId> = rows.iter().filter_map(|row| row.user.selected_team_id).collect();
    let teams = app.store.teams(&project.id, &selected.into_iter().collect::<Vec<_>>()).await?;
    let team = |row: &UserRow| row.user.selected_team_id.and_then(|id| teams.get(&id));
    Ok(rows.iter().map(|row| ServerUser::of(&row.user, row.last_active_at, &project.config, team(row))).collect())
}

fn filter(query: &ListQuery) -> UserFilter {
    let includes_anonymous = query.include_anonymous.is_set();
    UserFilter {
        words: query.query.as_deref().and_then(Search::parse),
        beginning: query.starts_with.as_deref().and_then(Search::parse),
        includes_restricted: includes_anonymous || query.include_restricted.is_set(),
        includes_anonymous,
        only_anonymous: query.only_anonymous.is_set(),
    }
}

/// Rejects contradictory parameters.
fn check(query: &ListQuery, filter: &UserFilter, by_activity: bool) -> Result<(), Error> {
    let refused = |field: &str, problem: &str| Err(ROUTE.schema_error(&Problems::one(field, problem)).into());
    if filter.only_anonymous && !filter.includes_anonymous {
        return refused("query.only_anonymous", "requires include_anonymous");
    }
    if by_activity && query.team_id.is_some() {
        return refused("query.order_by", "must be signed_up_at if team_id is sent");
    }
    let others = query.query.is_some() || query.order_by.is_some() || query.desc.is_some() || query.team_id.is_some();
    if filter.beginning.is_some() && others {
        return refused("query.starts_with", "cannot be combined with query, order_by, desc or team_id");
    }
    Ok(())
}

/// The user whose id is the search text, if the list may show this user.
async fn by_id(app: &App, project: &Project, filter: &UserFilter) -> Result<Option<UserRow>, Error> {
    let Some(id) = filter.id() else { return Ok(None) };
    let row = app.store.user(&project.id, id).await?;
    Ok(row.filter(|row| filter.shows(&row.user, &project.config)))
}
