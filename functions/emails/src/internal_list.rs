//! `GET /api/v1/internal/emails`: lists the hundred newest emails and their recipients, in the form
//! that published SDKs expect. The operation [`outbox_list`](crate::outbox_list) lists all emails,
//! with more details about each email.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::page::{self, List};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::outbox::{OutboxEntry, Recipients, Stage};
use serde::Serialize;
use store::outbox::list::OutboxListing;
use utoipa::ToSchema;
use wire::clock::Millis;
use wire::id::{EmailId, UserId};

pub const ROUTE: Route =
    Route::get("emails-internal-list", "/api/v1/internal/emails").summary("Lists the hundred newest emails").table(&[BatchGetItem, Query]);

/// The maximum number of emails in the list.
const COUNT: usize = 100;

/// The maximum size of an email address in the list, in bytes.
const MAX_ADDRESS: usize = 400;

/// An email.
#[derive(Serialize, ToSchema)]
pub struct ListedEmail {
    /// The id of the email in the outbox.
    id: EmailId,
    /// The subject line, which is empty until the email is rendered.
    subject: String,
    /// The time when the email was sent or failed or, until then, when it was created, in
    /// milliseconds since the Unix epoch.
    sent_at_millis: Millis,
    /// The recipients' email addresses. For an email to a user's primary address, this is the
    /// current primary address.
    to: Vec<String>,
    /// The reason why the email could not be rendered or sent. `null` if it has not failed.
    error: Option<String>,
}

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<List<ListedEmail>>, Error> {
    let (project, now) = (&access.project, app.clock.now());
    let listing = OutboxListing { start: None, oldest: project.created_at, limit: COUNT, read: COUNT + 1, now };
    let mut entries = app.store.outbox_entries(&project.id, listing, |entry| Some(listed(entry))).await?.entries;
    let users: Vec<UserId> = entries.iter().filter_map(|(_, user)| *user).collect();
    let users = app.store.users_by_id(&project.id, &users).await?;
    for (email, user) in &mut entries {
        let primary = user.and_then(|user| users.get(&user)?.user.primary());
        email.to.extend(primary.map(|channel| channel.value.to_string()));
    }
    Ok(Json(List::whole(entries.into_iter().map(|(email, _)| email).collect())))
}

/// The email for the list, the user if the email goes to a user's primary address, and the size of
/// the email in the response. The caller must add the user's address.
fn listed(entry: OutboxEntry) -> ((ListedEmail, Option<UserId>), usize) {
    let (to, user) = match &entry.to {
        Recipients::UserPrimaryEmail { user_id } => (Vec::new(), Some(*user_id)),
        Recipients::UserCustomEmails { emails, .. } | Recipients::CustomEmails { emails } => {
            (emails.iter().map(ToString::to_string).collect(), None)
        }
    };
    let (ended, error) = match &entry.stage {
        Stage::Sent { at, .. } => (Some(*at), None),
        Stage::ServerError { at, message, .. } | Stage::RenderError { at, message, .. } => (Some(*at), Some(message.clone())),
        _ => (None, None),
    };
    let email = ListedEmail {
        id: entry.id,
        sent_at_millis: ended.unwrap_or_else(|| entry.created_at.as_millisecond()),
        subject: entry.rendered.map(|rendered| rendered.subject).unwrap_or_default(),
        to,
        error,
    };
    let size = page::size(&email) + user.map_or(0, |_| MAX_ADDRESS);
    ((email, user), size)
}
