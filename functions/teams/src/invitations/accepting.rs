//! Accepts an invitation with its code or id. One transaction ends the invitation and creates the
//! membership.
//!
//! Clients can create only a limited number of memberships for a user. The memberships are counted
//! before the transaction. If the user has joined another team in the meantime, the transaction
//! fails, because joining a team increments the user's version.

use errors::{Error, KnownError};
use flows::context::Context;
use flows::quota;
use flows::teams::{TeamToJoin, join_refused, joining};
use model::code::CodeRefusal;
use model::quota::Quota;
use model::team::invitation::{AcceptanceRefusal, AcceptanceWay, Invitation};
use store::team::invitation;
use store::user::UserRow;
use store::{Conflict, Label, optimistic};
use wire::id::UserId;
use wire::level::Level;

/// The maximum number of attempts if the user changes concurrently.
const MAX_ATTEMPTS: u32 = 10;

/// What was read of the user's memberships, after the user.
#[derive(Default)]
pub(crate) struct Memberships {
    /// Whether the user is known to be a member of the invitation's team.
    is_member: bool,
    /// The number of the user's teams. `None` if the teams have not been counted yet.
    count: Option<usize>,
}

impl Memberships {
    /// Reads the memberships of a user who has already been read.
    pub(crate) async fn read(context: &Context, invitation: Invitation, user: UserId) -> Result<Self, store::Error> {
        let (store, project) = (&context.app.store, &context.project.id);
        let (member, all) = tokio::try_join!(store.member(project, invitation.team_id, user), store.memberships(project, user))?;
        Ok(Self { is_member: member.is_some(), count: Some(all.len()) })
    }

    /// Reads only the number of teams, which is enough for clients, because their user was read
    /// when the request was authenticated. For servers, the number of memberships is not limited.
    pub(crate) async fn count(context: &Context, user: UserId) -> Result<Self, Error> {
        if context.level > Level::Client {
            return Ok(Self::default());
        }
        let all = context.app.store.memberships(&context.project.id, user).await?;
        Ok(Self { is_member: false, count: Some(all.len()) })
    }
}

/// Accepts an invitation. If the user is already a member, the membership does not change. If not,
/// a membership is created, which fails if the user has become a member in the meantime. If the
/// sender of an invitation has left the team or was removed from it, the invitation is rejected as
/// if it did not exist.
pub(crate) async fn accept(
    context: &Context,
    invitation: &Invitation,
    by: AcceptanceWay,
    row: &UserRow,
    mut known: Memberships,
) -> Result<(), Error> {
    let (app, project, id) = (&context.app, &context.project, row.user.id);
    invitation.may_be_accepted_by(&row.user, by, context.restricted_reason(&row.user)).map_err(|refused| match refused {
        AcceptanceRefusal::Restricted(restricted_reason) => KnownError::TeamInvitationRestrictedUserNotAllowed { restricted_reason },
        AcceptanceRefusal::OtherAddress => KnownError::TeamInvitationEmailMismatch,
    })?;
    if known.is_member {
        let accepted = app.store.transact(invitation::accept(&project.id, invitation)).await;
        return accepted.map_err(|error| refused(error, invitation, false));
    }
    // The user is the sender of the invitation and is no longer a member, so the invitation is
    // invalid. The transaction checks the membership of any other sender, but not of this sender:
    // the transaction creates this sender's membership, and may contain an item only once.
    if invitation.invited_by == Some(id) {
        return Err(CodeRefusal::NotFound.into());
    }
    let max = quota::max(context, Quota::Memberships)?;
    let mut row = row.clone();
    optimistic!(MAX_ATTEMPTS, |attempt| {
        if attempt > 0 {
            row = app.store.user(&project.id, id).await?.ok_or(KnownError::UserNotFound)?;
        }
        let user_version = max.map(|_| row.version);
        if let Some(max) = max {
            let count = match known.count.take() {
                Some(count) => count,
                None => app.store.memberships(&project.id, id).await?.len(),
            };
            if count >= max {
                return Err(KnownError::TooManyTeamMemberships { max }.into());
            }
        }
        let joined = TeamToJoin { team: invitation.team_id, created_at: invitation.team_created_at, user_version };
        let mut writes = invitation::accept(&project.id, invitation);
        writes.extend(joining(app, project, joined, &row.user)?);
        app.store.transact(writes).await.map_err(|error| refused(error, invitation, max.is_some()))
    })
}

/// The error for failed writes. If the write depends on the user's version, a changed version is a
/// conflict. The caller then tries again.
fn refused(error: store::Error, invitation: &Invitation, has_version: bool) -> Error {
    let store::Error::Conflict(conflict) = error else { return error.into() };
    let is_of = |label| Conflict::is_of(&conflict, label);
    if is_of(Label::Code) {
        CodeRefusal::AlreadyUsed.into()
    } else if is_of(Label::Member) {
        CodeRefusal::NotFound.into()
    } else if has_version && is_of(Label::User) && !is_of(Label::Team) {
        store::Error::Conflict(conflict).into()
    } else {
        join_refused(&conflict, invitation.team_id).into()
    }
}
