//! Team invitation emails. One transaction writes the invitation, its code, the outbox entry and
//! the counts of the recipient.

use errors::Error;
use model::code::Code;
use model::document::builtin::Builtin;
use model::email::Email;
use model::outbox::codes::{CodeVariable, LINK};
use model::outbox::{NewEntry, Recipients, Source};
use model::project::redirect::RedirectUrl;
use model::quota::Quota;
use model::team::Team;
use model::team::invitation::{Invitation, LIFE};
use model::text::line;
use model::user::User;
use serde_json::{Map, json};
use store::Write;
use store::team::invitation;
use wire::clock::after;
use wire::id::InvitationId;

use crate::context::Context;
use crate::email::gate::RecipientCounts;
use crate::email::sealed;
use crate::quota;

/// The id of a new invitation, and the writes that store the invitation and queue its email. The
/// link in the email is `callback` with the query parameter `code`. `sender` is the member who
/// invites; `None` if a server or an administrator invites.
pub fn writes(
    context: &Context,
    team: &Team,
    sender: Option<&User>,
    (email, recipient): (&Email, RecipientCounts),
    callback: &RedirectUrl,
) -> Result<(InvitationId, Vec<Write>), Error> {
    let (app, project) = (&context.app, &context.project.id);
    let (now, code) = (app.clock.now(), Code::new(app.entropy.code()));
    let invitation = Invitation {
        id: InvitationId::from(app.entropy.ordered_uuid(now)),
        team_id: team.id,
        team_created_at: Some(team.created_at),
        email: email.clone(),
        expires_at: after(now, LIFE),
        invited_by: sender.map(|sender| sender.id),
        sender_epoch: sender.map_or(0, |sender| sender.owner_epoch),
        nonce_digest: code.nonce_digest(),
        used: false,
    };
    let variables =
        Map::from_iter([("email".to_owned(), json!(email)), ("team_display_name".to_owned(), json!(line::unlinked(&team.display_name)))]);
    let to = Recipients::CustomEmails { emails: vec![email.clone()] };
    let new = NewEntry::urgent(to, Source::builtin(Builtin::TeamInvitation), variables);
    let link = CodeVariable::link(LINK, callback.with_query("code", code.text()), &code);
    let mail = recipient.queue(project, &sealed::entry(app, project, new, [link], now)?, None)?;
    let max = quota::max(context, Quota::Invitations)?;
    let counted = max.filter(|_| sender.is_some()).map(|max| invitation::count(project, &invitation, max));
    Ok((invitation.id, invitation::create(project, &invitation, &code)?.into_iter().chain(mail).chain(counted).collect()))
}
