//! `PATCH /api/v1/teams/{team_id}`: updates a team. A client needs `$update_team`.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::teams::enter;
use model::permission::System;
use model::profile_image::{NewImage, Owner, Upload};
use model::team::TeamPatch;
use model::team::view::TeamView;
use store::optimistic;
use store::team::{self, TeamRow};

use crate::members::images::image_writes;
use crate::members::paths::TeamPath;

pub const ROUTE: Route = Route::patch("teams-team-update", "/api/v1/teams/{team_id}")
    .summary("Updates a team")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamPermissionRequired, ErrorCode::TeamNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<TeamPatch, Nothing, TeamPath>,
) -> Result<VersionedResponse<Json<TeamView>>, Error> {
    body.check(access.level).map_err(|problems| ROUTE.schema_error(&problems))?;
    let (id, project) = (path.team_id, &access.project);
    let url = |digest: &_| Owner::from(id).url(&app.settings.api_url, &project.id, digest);
    let image = NewImage::of(&body.profile_image_url, Upload::digest, url);
    optimistic!(|attempt| {
        let TeamRow { mut team, version, .. } = enter(access.table(attempt), &access, id, &[], &[System::UpdateTeam]).await?.row;
        if_match.check(version)?;
        body.apply(&mut team);
        let old = image.apply(&mut team.profile_image_url, &mut team.uploaded_image);
        let images = image_writes(project, id, &image, old)?;
        app.store.transact([team::replace(&project.id, &team, version)?].into_iter().chain(images)).await?;
        Ok(VersionedResponse { response: Json(TeamView::of(&team, access.level)), version: version + 1 })
    })
}
