//! Texts shared by the list of entries and the page of an entry.

use std::collections::BTreeMap;

use model::outbox::status::Status;
use model::outbox::{OutboxEntry, Recipients, Stage};
use wire::id::{ProjectId, UserId};

use super::state::Pages;

/// The rendered subject or, before rendering, the template of the subject.
pub(super) fn subject(entry: &OutboxEntry) -> String {
    let source = || entry.source.complete().subject.to_owned();
    entry.rendered.as_ref().map_or_else(source, |rendered| rendered.subject.clone())
}

/// The reason why an entry could not be rendered or sent, or was skipped; otherwise `None`.
pub(super) fn failure(entry: &OutboxEntry) -> Option<String> {
    match &entry.stage {
        Stage::RenderError { message, .. } | Stage::ServerError { message, .. } => Some(message.clone()),
        Stage::Skipped { reason, .. } => {
            let reason = serde_json::to_value(reason).ok()?;
            Some(reason.as_str()?.replace('_', " ").to_lowercase())
        }
        _ => None,
    }
}

/// The name of a status, as shown to people.
pub(super) fn words(status: Status) -> String {
    status.name().replace('-', " ")
}

/// The style class of a status; there are four classes.
pub(super) fn tone(status: Status) -> &'static str {
    match status {
        Status::Sent | Status::Opened | Status::Clicked => "done",
        Status::Preparing | Status::Rendering | Status::Scheduled | Status::Queued | Status::Sending | Status::DeliveryDelayed => "waiting",
        Status::RenderError | Status::ServerError | Status::Bounced | Status::MarkedAsSpam => "failed",
        Status::Paused | Status::Skipped => "aside",
    }
}

/// The email addresses of users, each looked up only once.
#[derive(Default)]
pub(super) struct Addresses(BTreeMap<UserId, String>);

impl Addresses {
    /// The addresses of an email's recipients, as a text for a page.
    pub(super) async fn text(&mut self, pages: &Pages, project: &ProjectId, to: &Recipients) -> Result<String, store::Error> {
        let user = match to {
            Recipients::UserCustomEmails { emails, .. } | Recipients::CustomEmails { emails } if !emails.is_empty() => {
                return Ok(emails.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
            }
            to => to.user_id(),
        };
        let Some(user) = user else { return Ok("nobody".to_owned()) };
        if let Some(known) = self.0.get(&user) {
            return Ok(known.clone());
        }
        let found = pages.app.store.user(project, user).await?;
        let address = match &found {
            Some(row) => row.user.primary().map_or_else(|| format!("user {user} without an address"), |channel| channel.value.to_string()),
            None => format!("deleted user {user}"),
        };
        self.0.insert(user, address.clone());
        Ok(address)
    }
}
