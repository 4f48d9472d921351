//! `GET /api/v1/projects/{project_id}/teams/{team_id}/images/{digest}`: returns an uploaded picture
//! of a team or of a team member.
//!
//! No credentials are needed, because only callers who could read the team or the member know the
//! URL. Pictures of users are protected in the same way.

use api::http::Route;
use api::http::TableAction::GetItem;
use api::product::input::{IgnoredBody, Nothing};
use api::product::picture::Picture;
use api::product::{Anybody, Input};
use axum::extract::State;
use crypto::digest::Digest;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use utoipa::ToSchema;
use wire::id::{ProjectId, TeamId};

pub const ROUTE: Route = Route::get("teams-team-image-read", "/api/v1/projects/{project_id}/teams/{team_id}/images/{digest}")
    .summary("Returns an uploaded picture of a team or a member")
    .table(&[GetItem])
    .without_secret()
    .media(&["image/*"])
    .partitions(&["T#*"])
    .errors(&[ErrorCode::ProfileImageNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamImagePath {
    project_id: String,
    team_id: String,
    digest: String,
}

pub async fn handle(
    State(app): State<App>,
    _: Anybody,
    Input { path, .. }: Input<IgnoredBody, Nothing, TeamImagePath>,
) -> Result<Picture, Error> {
    let image = match (ProjectId::parse(&path.project_id), TeamId::parse(&path.team_id), Digest::parse(&path.digest)) {
        (Ok(project), Ok(team), Some(digest)) => app.store.image(&project, team, &digest).await?,
        _ => None,
    };
    image.map(Picture).ok_or_else(|| KnownError::ProfileImageNotFound.into())
}
