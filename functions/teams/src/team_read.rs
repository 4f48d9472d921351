//! `GET /api/v1/teams/{team_id}`: returns a team to its members and to servers.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode};
use flows::teams::enter;
use model::team::view::TeamView;
use store::team::TeamRow;

use crate::members::paths::TeamPath;

pub const ROUTE: Route = Route::get("teams-team-read", "/api/v1/teams/{team_id}")
    .summary("Returns a team")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Team])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamMembershipNotFound, ErrorCode::TeamNotFound]);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, TeamPath>,
) -> Result<VersionedResponse<Json<TeamView>>, Error> {
    let TeamRow { team, version, .. } = enter(&access.prefetched, &access, path.team_id, &[], &[]).await?.row;
    Ok(VersionedResponse { response: Json(TeamView::of(&team, access.level)), version })
}
