//! `GET /api/v1/teams/{team_id}`: returns a team to its members and to servers.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::precondition::Versioned;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use flows::teams::enter;
use model::team::view::TeamView;
use store::team::TeamRow;

use crate::members::paths::TeamPath;

pub const ROUTE: Route = Route::get("teams-team-read", "/api/v1/teams/{team_id}")
    .summary("Returns a team")
    .table(&[BatchGetItem])
    .reads(&[Named::Team])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamMembershipNotFound, ErrorCode::TeamNotFound]);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<Ignored, Nothing, TeamPath>,
) -> Result<Versioned<Json<TeamView>>, Error> {
    let TeamRow { team, version, .. } = enter(&access.prefetched, &access, path.team_id, &[], &[]).await?.row;
    Ok(Versioned { response: Json(TeamView::of(&team, access.level)), version })
}
