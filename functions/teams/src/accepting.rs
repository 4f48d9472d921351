//! Accepting an invitation, by its code or by its id: the invitation ends and the membership begins in one transaction.

use shared::App;
use shared::model::code::Rejected;
use shared::model::invitation::{Invitation, NotAcceptable};
use shared::model::project::Project;
use shared::model::user::User;
use shared::product_api::error::{Error, KnownError};
use shared::product_api::teams::{join_refused, joining};
use shared::store::{self, invitations};

/// Accepts an invitation. Whoever is a member already stays what it is.
pub(crate) async fn accept(app: &App, project: &Project, invitation: &Invitation, user: &User, is_member: bool) -> Result<(), Error> {
    invitation.may_be_accepted_by(user, &project.config).map_err(|refused| match refused {
        NotAcceptable::Restricted(restricted_reason) => KnownError::TeamInvitationRestrictedUserNotAllowed { restricted_reason },
        NotAcceptable::OtherAddress => KnownError::TeamInvitationEmailMismatch,
    })?;
    let mut writes = invitations::accept(&project.id, invitation).to_vec();
    let ends = writes.len();
    if !is_member {
        writes.extend(joining(app, project, invitation.team_id, user)?);
    }
    match app.store.transact(writes).await {
        Ok(()) => Ok(()),
        Err(store::Error::Conflict(failed)) if failed.iter().any(|index| *index < ends) => Err(Rejected::AlreadyUsed.into()),
        Err(store::Error::Conflict(failed)) => Err(join_refused(&failed, ends, invitation.team_id).into()),
        Err(error) => Err(error.into()),
    }
}
