//! `GET /api/v1/team-member-profiles/{team_id}/{user_id}`: returns a team member's name and picture
//! in the team. A client needs `$read_members` to read the profiles of other users.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, TEAM_MEMBER_ERRORS};
use flows::teams::{enter, limited_to, no_member};
use model::permission::System;
use model::view::member_profile::MemberProfileView;

use crate::members::named::named;
use crate::members::paths::MemberPath;
use crate::members::profiles::views;

pub const ROUTE: Route = Route::get("teams-member-profile-read", "/api/v1/team-member-profiles/{team_id}/{user_id}")
    .summary("Returns a member's profile in a team")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Team, NamedItem::User])
    .errors(TEAM_MEMBER_ERRORS);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, MemberPath>,
) -> Result<Json<MemberProfileView>, Error> {
    let (team, user) = (path.team_id, named(&access, path.user_id)?);
    let needed: &[System] = if limited_to(&access)? == Some(user) { &[] } else { &[System::ReadMembers] };
    let entered = enter(&access.prefetched, &access, team, &[user], needed).await?;
    let profile = views(&access, &entered.row.team, std::slice::from_ref(entered.member(user)?)).await?.0.pop();
    Ok(Json(profile.ok_or_else(|| no_member(team, user))?))
}
