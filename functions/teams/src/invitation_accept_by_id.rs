//! `POST /api/v1/team-invitations/{invitation_id}/accept`: adds a user to a team without a code, if
//! one of the user's verified email addresses was invited. Clients accept invitations for their
//! user. Servers accept invitations for any user.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::IgnoredBody;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::App;
use flows::accounts::read;
use flows::teams::limited_to;
use model::code::CodeRefusal;
use model::team::invitation::AcceptanceWay;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::invitations::accepting::{Memberships, accept};
use crate::invitations::input::{AcceptedInvitation, InvitationPath};

pub const ROUTE: Route = Route::post("teams-invitation-accept-by-id", "/api/v1/team-invitations/{invitation_id}/accept")
    .summary("Joins a team through an invitation sent to a verified address")
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::UserNotFound,
        ErrorCode::VerificationCodeNotFound,
        ErrorCode::VerificationCodeAlreadyUsed,
        ErrorCode::TeamInvitationRestrictedUserNotAllowed,
        ErrorCode::TeamInvitationEmailMismatch,
        ErrorCode::TeamMembershipAlreadyExists,
        ErrorCode::TeamNotFound,
        ErrorCode::TooManyTeamMemberships,
    ]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AcceptQuery {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, path, .. }: Input<IgnoredBody, AcceptQuery, InvitationPath>,
) -> Result<Json<AcceptedInvitation>, Error> {
    limited_to(&access)?;
    let (project, user_id) = (&access.project, access.user_id(query.user_id)?);
    let invitation = async { Ok::<_, Error>(app.store.invitation(&project.id, path.invitation_id).await?) };
    let memberships = Memberships::count(&access, user_id);
    let (invitation, row, memberships) = tokio::try_join!(invitation, read(&access, user_id), memberships)?;
    let row = row.ok_or(KnownError::UserNotFound)?;
    let invitation = invitation.filter(|invitation| invitation.is_open(app.clock.now())).ok_or(CodeRefusal::NotFound)?;
    accept(&access, &invitation, AcceptanceWay::List, &row, memberships).await?;
    Ok(Json(AcceptedInvitation {}))
}
