//! The path parameters and the response of the operations on invitations.

use deserr::Deserr;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::InvitationId;

/// The empty response to an accepted invitation.
#[derive(Serialize, ToSchema)]
#[schema(as = Accepted)]
pub struct AcceptedInvitation {}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationPath {
    pub(crate) invitation_id: InvitationId,
}
