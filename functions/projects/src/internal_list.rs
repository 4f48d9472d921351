//! `GET /api/v1/internal/projects`: lists the projects that the caller's teams in the project
//! `internal` own, page by page, in the order in which the caller joined the teams.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use futures_util::future::try_join_all;
use model::project::view::AdminProject;
use utoipa::ToSchema;
use wire::id::{ProjectId, TeamId};

use crate::owners::teams::{self, owner};

pub const ROUTE: Route = Route::get("projects-internal-list", "/api/v1/internal/projects")
    .summary("Lists the projects that the current user's teams own")
    .table(&[BatchGetItem, Query])
    .errors(teams::ERRORS)
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectsQuery {
    /// 1 to 1,000. Default: 1,000. A page also ends when it reaches 1 MB.
    limit: Option<Limit<1000, 1000>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A position in the list: the time when the caller joined the team (in milliseconds), the team and
/// the project.
type Place = (i64, TeamId, ProjectId);

/// The number of teams whose projects are looked up at once, and the number of projects in the
/// first read.
const AT_ONCE: usize = 10;
/// The maximum number of projects that are read at once.
const MAX_AT_ONCE: usize = 100;

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, ProjectsQuery>,
) -> Result<Json<Page<AdminProject>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let user = owner(&access)?;
    let cursors = Cursors::of(&access, format_args!("owned-projects/{}", user.id));
    let after: Option<Place> = cursors.position(query.cursor.as_deref())?;
    let memberships = app.store.memberships(&access.project.id, user.id).await?;
    let mut teams: Vec<(i64, TeamId)> = memberships.iter().map(|it| (it.joined_at.as_millisecond(), it.team_id)).collect();
    teams.retain(|(joined, team)| after.as_ref().is_none_or(|after| (*joined, *team) >= (after.0, after.1)));
    let (mut items, mut bytes, mut last, mut at_once) = (Vec::new(), 0, None, AT_ONCE.min(limit));
    for some in teams.chunks(AT_ONCE) {
        let owned = try_join_all(some.iter().map(async |(_, team)| app.store.owned_ids(*team).await)).await?;
        let of_team = some.iter().zip(owned).flat_map(|((joined, team), ids)| ids.into_iter().map(move |id| (*joined, *team, id)));
        let places: Vec<Place> = of_team.filter(|place| after.as_ref().is_none_or(|after| place > after)).collect();
        let mut rest = places.as_slice();
        while !rest.is_empty() {
            let (part, later) = rest.split_at(at_once.min(rest.len()));
            let ids: Vec<ProjectId> = part.iter().map(|(.., id)| id.clone()).collect();
            let projects = app.store.projects_by_id(&ids).await?;
            for (place, project) in part.iter().filter_map(|place| Some((place, projects.get(&place.2)?))) {
                let item = AdminProject::of(project, app.settings.development);
                let size = page::size(&item);
                if items.len() == limit || bytes + size > page::MAX_BYTES && last.is_some() {
                    return Ok(Json(Page::new(items, cursors.next(last.as_ref())?)));
                }
                bytes += size;
                items.push(item);
                last = Some(place.clone());
            }
            // A project takes up to 400 KB. The next read therefore fetches as many projects as
            // would fit on a page if they were as large as the previous projects.
            at_once = (page::MAX_BYTES * items.len() / bytes.max(1)).clamp(1, MAX_AT_ONCE);
            rest = later;
        }
    }
    Ok(Json(Page::new(items, None)))
}
