//! Accepts an invitation by its code or id. The invitation ends and the membership begins in one
//! transaction.

use errors::{Error, KnownError};
use flows::context::Context;
use flows::teams::{Joined, join_refused, joining};
use model::code::Rejected;
use model::team::invitation::{By, Invitation, NotAcceptable};
use model::user::User;
use store::Label;
use store::team::invitation;

/// Accepts an invitation. If `is_member` is set, the user's membership stays unchanged; otherwise
/// a membership is created, which fails if the user is already a member. An invitation whose sender
/// has left the team or was removed is rejected as if it did not exist.
pub(crate) async fn accept(context: &Context, invitation: &Invitation, by: By, user: &User, is_member: bool) -> Result<(), Error> {
    let (app, project) = (&context.app, &context.project);
    invitation.may_be_accepted_by(user, by, context.restricted_reason(user)).map_err(|refused| match refused {
        NotAcceptable::Restricted(restricted_reason) => KnownError::TeamInvitationRestrictedUserNotAllowed { restricted_reason },
        NotAcceptable::OtherAddress => KnownError::TeamInvitationEmailMismatch,
    })?;
    let mut writes = invitation::accept(&project.id, invitation);
    if !is_member {
        // The user is the sender and no longer a member, so the invitation is invalid. For other
        // senders, the transaction checks the membership. Here it cannot: it also creates that
        // membership, and may contain an item only once.
        if invitation.invited_by == Some(user.id) {
            return Err(Rejected::NotFound.into());
        }
        let joined = Joined { team: invitation.team_id, created_at: invitation.team_created_at };
        writes.extend(joining(app, project, joined, user)?);
    }
    match app.store.transact(writes).await {
        Ok(()) => Ok(()),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Code) => Err(Rejected::AlreadyUsed.into()),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Member) => Err(Rejected::NotFound.into()),
        Err(store::Error::Conflict(conflict)) => Err(join_refused(&conflict, invitation.team_id).into()),
        Err(error) => Err(error.into()),
    }
}
