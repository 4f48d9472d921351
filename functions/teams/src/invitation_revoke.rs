//! `DELETE /api/v1/team-invitations/{invitation_id}`: revokes an invitation; its code is worth nothing any more. A client needs
//! `$remove_members`.

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, DeleteItem, GetItem};
use shared::http::{Json, Route};
use shared::model::code::Rejected;
use shared::model::id::{InvitationId, TeamId};
use shared::model::permission::System;
use shared::product_api::error::Error;
use shared::product_api::input::Ignored;
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::teams::enter;
use shared::product_api::{Access, Client, Input};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::delete("teams-invitation-revoke", "/api/v1/team-invitations/{invitation_id}")
    .summary("Revokes an invitation to a team")
    .table(&[BatchGetItem, DeleteItem, GetItem])
    .errors(&["USER_AUTHENTICATION_REQUIRED", "TEAM_PERMISSION_REQUIRED", "TEAM_NOT_FOUND", "VERIFICATION_CODE_NOT_FOUND"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationPath {
    pub(crate) invitation_id: InvitationId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RevokeQuery {
    /// The team of the invitation.
    team_id: TeamId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, path, .. }: Input<Ignored, RevokeQuery, InvitationPath>,
) -> Result<Json<Success>, Error> {
    let project = &access.project.id;
    let entering = enter(&access.prefetched, &access, query.team_id, &[], &[System::RemoveMembers]);
    let (entered, invitation) = tokio::join!(entering, app.store.invitation(project, path.invitation_id));
    entered?;
    let invitation = invitation?.filter(|invitation| invitation.team_id == query.team_id).ok_or(Rejected::NotFound)?;
    if app.store.revoke_invitation(project, &invitation).await? { Ok(Json(SUCCESS)) } else { Err(Rejected::NotFound.into()) }
}
