//! `PATCH /api/v1/team-member-profiles/{team_id}/{user_id}`: changes a team member's name and
//! picture in the team. A client can change only the profile of its user.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, USER_REFERENCE_ERRORS};
use flows::App;
use flows::teams::{enter, limited_to, no_member};
use model::profile_image::{NewImage, Owner, Upload};
use model::team::MemberProfilePatch;
use model::view::member_profile::MemberProfileView;
use store::optimistic;
use store::team::membership;

use crate::members::images::image_writes;
use crate::members::paths::MemberPath;
use crate::members::profiles::view_of;

pub const ROUTE: Route = Route::patch("teams-member-profile-update", "/api/v1/team-member-profiles/{team_id}/{user_id}")
    .summary("Updates a member's profile in a team")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team, NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::TeamNotFound, ErrorCode::TeamMembershipNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, path, .. }: Input<MemberProfilePatch, Nothing, MemberPath>,
) -> Result<Json<MemberProfileView>, Error> {
    limited_to(&access)?;
    let (team, user, project) = (path.team_id, access.user_id(path.user_id)?, &access.project);
    let url = |digest: &_| Owner::from(team).url(&app.settings.api_url, &project.id, digest);
    let image = NewImage::of(&body.profile_image_url, |upload: &Upload| upload.digest_of_member(user), url);
    optimistic!(|attempt| {
        let table = access.table(attempt);
        let others = [user];
        let (entered, row) = tokio::join!(enter(table, &access, team, &others, &[]), table.user(&project.id, user));
        let (entered, row) = (entered?, row?.ok_or_else(|| no_member(team, user))?);
        let old = entered.member(user)?;
        let mut new = old.clone();
        body.display_name.clone().map(|name| name.0).apply_flat(&mut new.member.display_name);
        let gone = image.apply(&mut new.member.profile_image_url, &mut new.member.uploaded_image);
        let images = image_writes(project, team, &image, gone)?;
        app.store.transact([membership::replace(&project.id, old, &new.member)?].into_iter().chain(images)).await?;
        Ok(Json(view_of(&access, &entered.row.team, &new, row).await?))
    })
}
