//! What requests about invitations bring, and their answer.

use deserr::Deserr;
use model::code::Code;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::InvitationId;

/// Nothing: whoever accepted reads the team.
#[derive(Serialize, ToSchema)]
pub struct Accepted {}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationCodeBody {
    pub(crate) code: Code,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct InvitationPath {
    pub(crate) invitation_id: InvitationId,
}
