//! `DELETE /api/v1/team-memberships/{team_id}/{user_id}`: removes a user from a team. A client's
//! user may leave the team, unless the team owns projects and has no other members. To remove other
//! users, a client needs `$remove_members`.

use api::http::TableAction::{BatchGetItem, DeleteItem, Query, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError, TEAM_MEMBER_ERRORS};
use flows::App;
use flows::literal::{SUCCESS, Success};
use flows::teams::{enter, limited_to};
use model::permission::System;
use store::optimistic;
use store::team::{self, membership};

use crate::members::named::named;
use crate::members::paths::MemberPath;

pub const ROUTE: Route = Route::delete("teams-membership-delete", "/api/v1/team-memberships/{team_id}/{user_id}")
    .summary("Removes a user from a team")
    .table(&[BatchGetItem, DeleteItem, Query, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(TEAM_MEMBER_ERRORS)
    .errors(&[ErrorCode::TeamOwnsProjects]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, MemberPath>,
) -> Result<Json<Success>, Error> {
    let (team, user) = (path.team_id, named(&access, path.user_id)?);
    let (project, own) = (&access.project.id, limited_to(&access)?);
    let needed: &[System] = if own == Some(user) { &[] } else { &[System::RemoveMembers] };
    optimistic!(|attempt| {
        let entered = enter(access.table(attempt), &access, team, &[user], needed).await?;
        let mut writes = membership::remove(project, entered.member(user)?);
        if own.is_some() && project.is_internal() {
            if app.store.is_last_owner(project, team, user).await? {
                return Err(KnownError::TeamOwnsProjects { team_id: team.to_string() }.into());
            }
            // If the last two members leave at the same time, one of the two requests is rejected,
            // because its user is then the last member.
            writes.push(team::leave(project, &entered.row));
        }
        app.store.transact(writes).await?;
        Ok(Json(SUCCESS))
    })
}
