//! `GET /api/v1/internal/projects`: lists the projects owned by the teams of the caller in the
//! project `internal`, in the order in which the caller joined the teams.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::page::List;
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::view::AdminProject;
use wire::id::TeamId;

use crate::owners::teams::{self, owner};

pub const ROUTE: Route = Route::get("projects-internal-list", "/api/v1/internal/projects")
    .summary("Lists the projects that the current user's teams own")
    .table(&[BatchGetItem, Query])
    .errors(teams::ERRORS);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<List<AdminProject>>, Error> {
    let user = owner(&access)?;
    let memberships = app.store.memberships(&access.project.id, user.id).await?;
    let teams: Vec<TeamId> = memberships.iter().map(|membership| membership.team_id).collect();
    let projects = app.store.owned_projects(&teams).await?;
    let items = projects.iter().map(|project| AdminProject::of(project, app.settings.development)).collect();
    Ok(Json(List::whole(items)))
}
