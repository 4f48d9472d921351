//! `DELETE /api/v1/team-memberships/{team_id}/{user_id}`: removes a user from a team. A client's
//! own user may always leave; to remove other users, the client needs `$remove_members`.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, TEAM_MEMBER_ERRORS};
use flows::App;
use flows::context::ROUNDS;
use flows::literal::{SUCCESS, Success};
use flows::teams::{enter, limited_to};
use model::permission::System;
use store::optimistic;
use store::team::membership;

use crate::members::named::named;
use crate::members::paths::MemberPath;

pub const ROUTE: Route = Route::delete("teams-membership-delete", "/api/v1/team-memberships/{team_id}/{user_id}")
    .summary("Removes a user from a team")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .reads(&[Named::Team])
    .errors(TEAM_MEMBER_ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { path, .. }: Input<Ignored, Nothing, MemberPath>,
) -> Result<Json<Success>, Error> {
    let (team, user) = (path.team_id, named(&access, path.user_id)?);
    let needed: &[System] = if limited_to(&access)? == Some(user) { &[] } else { &[System::RemoveMembers] };
    optimistic!(ROUNDS, |round| {
        let entered = enter(access.table(round), &access, team, &[user], needed).await?;
        app.store.transact(membership::remove(&access.project.id, entered.member(user)?)).await?;
        Ok(Json(SUCCESS))
    })
}
