//! `DELETE /api/v1/team-invitations/{invitation_id}`: revokes an invitation and invalidates its
//! code. A client needs `$remove_members`.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::App;
use flows::literal::{SUCCESS, Success};
use flows::teams::enter;
use model::code::CodeRefusal;
use model::permission::System;
use utoipa::ToSchema;
use wire::id::TeamId;

use crate::invitations::input::InvitationPath;

pub const ROUTE: Route = Route::delete("teams-invitation-revoke", "/api/v1/team-invitations/{invitation_id}")
    .summary("Revokes an invitation to a team")
    .table(&[BatchGetItem, DeleteItem, GetItem, UpdateItem])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamPermissionRequired,
        ErrorCode::TeamNotFound,
        ErrorCode::VerificationCodeNotFound,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RevokeQuery {
    /// The team of the invitation.
    team_id: TeamId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, path, .. }: Input<IgnoredBody, RevokeQuery, InvitationPath>,
) -> Result<Json<Success>, Error> {
    let project = &access.project.id;
    let entering = enter(&access.prefetched, &access, query.team_id, &[], &[System::RemoveMembers]);
    let (entered, invitation) = tokio::join!(entering, app.store.invitation(project, path.invitation_id));
    entered?;
    let invitation = invitation?.filter(|invitation| invitation.team_id == query.team_id).ok_or(CodeRefusal::NotFound)?;
    if app.store.revoke_invitation(project, &invitation).await? { Ok(Json(SUCCESS)) } else { Err(CodeRefusal::NotFound.into()) }
}
