//! `GET /api/v1/team-member-profiles`: lists the names and pictures that a team's members have in
//! the team, page by page. A client needs `$read_members` to list the profiles of other users.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, TEAM_MEMBER_ERRORS};
use flows::App;
use flows::teams::{enter, limited_to};
use model::permission::System;
use model::user::reference::UserRef;
use model::view::member_profile::MemberProfileView;
use store::team::membership::MemberRow;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

use crate::members::named::named;
use crate::members::profiles::views;

pub const ROUTE: Route = Route::get("teams-member-profile-list", "/api/v1/team-member-profiles")
    .summary("Lists the member profiles of a team")
    .table(&[BatchGetItem, Query])
    .errors(TEAM_MEMBER_ERRORS)
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MemberProfilesQuery {
    team_id: TeamId,
    /// Selects the profile of one user, by the user's id or `me`.
    user_id: Option<UserRef>,
    /// 1 to 1,000. Default: 1,000. A page also ends when it reaches 1 MB, or when the user items of
    /// its members reach 2 MB.
    limit: Option<Limit<1000, 1000>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, MemberProfilesQuery>,
) -> Result<Json<Page<MemberProfileView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (team, project) = (query.team_id, &access.project);
    let user = query.user_id.map(|user| named(&access, user)).transpose()?;
    let is_own = user.is_some() && limited_to(&access)? == user;
    let needed: &[System] = if is_own { &[] } else { &[System::ReadMembers] };
    let cursors = Cursors::of(&access, format_args!("member-profiles/{team}"));
    let after = cursors.position(query.cursor.as_deref())?;
    let others: Vec<UserId> = user.into_iter().collect();
    let entering = enter(&access.prefetched, &access, team, &others, needed);
    // The page is read during the permission check, but only used if the check succeeds.
    let page = async {
        match user {
            Some(_) => Ok((Vec::new(), false)),
            None => app.store.members(&project.id, team, after, limit).await,
        }
    };
    let (entered, page) = tokio::join!(entering, page);
    let entered = entered?;
    let (mut members, more): (Vec<MemberRow>, bool) = match user {
        Some(user) => (vec![entered.member(user)?.clone()], false),
        None => page?,
    };
    let (mut items, covered) = views(&access, &entered.row.team, &members).await?;
    let more = more || covered < members.len();
    members.truncate(covered);
    // Members whose users were deleted are not shown.
    let count = page::fitting(&items);
    let cut = items.get(count.saturating_sub(1)).filter(|_| count < items.len()).map(user_of);
    items.truncate(count);
    let last = cut.or(members.last().map(|row| row.user_id).filter(|_| more));
    Ok(Json(Page::new(items, cursors.next(last.as_ref())?)))
}

fn user_of(profile: &MemberProfileView) -> UserId {
    match profile {
        MemberProfileView::Client(profile) => profile.user_id,
        MemberProfileView::Server(profile) => profile.client.user_id,
    }
}
