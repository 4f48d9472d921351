//! `POST /api/v1/team-invitations/send-code`: emails an invitation to a team. A client needs
//! `$invite_members`.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::bot_challenge::Check;
use flows::email::gate::{self, Address};
use flows::email::invitation;
use flows::teams::{enter, limited_to, refuse_anonymous, refuse_restricted};
use flows::{App, guarded_body};
use model::email::Email;
use model::limit::Limit;
use model::permission::System;
use model::project::redirect::RedirectUrl;
use model::quota::Quota;
use serde::Serialize;
use store::{Label, Write};
use utoipa::ToSchema;
use wire::id::{InvitationId, ProjectId, TeamId};

pub const ROUTE: Route = Route::post("teams-invitation-send-code", "/api/v1/team-invitations/send-code")
    .summary("Emails an invitation to a team")
    .limit(Limit::SendCode)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Team])
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::TeamPermissionRequired,
        ErrorCode::TeamNotFound,
        ErrorCode::RedirectUrlNotWhitelisted,
        ErrorCode::BotChallengeRequired,
        ErrorCode::BotChallengeFailed,
        ErrorCode::TooManyInvitations,
    ]);

guarded_body! {
    pub struct SendInvitation {
        team_id: TeamId,
        email: Email,
        /// The URL to which the link in the email leads. The parameter `code` is added to the query
        /// of this URL.
        callback_url: RedirectUrl,
    }
}

#[derive(Serialize, ToSchema)]
pub struct SentInvitation {
    success: bool,
    id: InvitationId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SendInvitation>,
) -> Result<Json<SentInvitation>, Error> {
    refuse_anonymous(&access)?;
    refuse_restricted(&access)?;
    let entered = enter(&access.prefetched, &access, body.team_id, &[], &[System::InviteMembers]).await?;
    access.redirects().check(&body.callback_url)?;
    let team = &entered.row.team;
    let check = match &access.user {
        Some(user) => Check::for_email(&access, &user.row.user),
        // Only servers and administrators can send invitations without a signed-in user.
        None => Check::none(&app, &access.project, &access.place),
    };
    let admitted = check.admit(body.presented()).await?;
    let recipient = gate::recipient(&access, &body.email, Address::Unproved).await?;
    let sender = limited_to(&access)?.and(access.user.as_ref()).map(|user| &user.row.user);
    let (id, mut writes) = invitation::writes(&access, team, sender, (&body.email, recipient), &body.callback_url)?;
    writes.extend(admitted.by_sender());
    admitted.counted_with(send(&app, &access.project.id, body.team_id, writes)).await?;
    Ok(Json(SentInvitation { success: true, id }))
}

/// Writes the invitation. If the team has no room for the invitation, expired invitations are
/// removed from the count, which happens only here.
async fn send(app: &App, project: &ProjectId, team: TeamId, writes: Vec<Write>) -> Result<(), Error> {
    let is_full = |error: &store::Error| matches!(error, store::Error::Conflict(conflict) if conflict.is_of(Label::Count));
    let full = || Error::from(KnownError::TooManyInvitations { max: Quota::Invitations.max() });
    match app.store.transact(writes.clone()).await {
        Err(error) if is_full(&error) => {
            if !app.store.uncount_expired(project, team, app.clock.now()).await? {
                return Err(full());
            }
            let again = app.store.transact(writes).await;
            again.map_err(|error| if is_full(&error) { full() } else { error.into() })
        }
        result => Ok(result?),
    }
}
