//! Notifies a project's owners that an endpoint was disabled.
//!
//! The email contains the project's name and the endpoint's address, and the project's
//! administrators can cause the email at any time. So that administrators cannot misuse the email
//! to send texts of their choice to strangers, it is sent only to verified addresses, and at most
//! once a day per project. The endpoint shows the reason why it was disabled.

use flows::App;
use flows::email::gate::{self, Cause};
use flows::email::members::{self, NotifiableMember};
use flows::email::notice::{facts, to_address};
use model::document::theme::DEFAULT_THEME;
use model::email::Email;
use model::outbox::{NewEntry, Source};
use model::text::line;
use model::webhook::{DisabledReason, Endpoint};
use serde_json::json;
use store::Write;
use wire::id::{ProjectId, TeamId, UserId};

const SUBJECT: &str = "Webhooks of {{ variables.project }} are switched off";
const HTML: &str = r#"<h1>Webhooks are switched off</h1>
<p>An endpoint of the project {{ variables.project }} no longer receives events:</p>
<p class="facts">{{ variables.url }}<br>{{ variables.time }}</p>
<p>{% if variables.is_gone %}It answered with status 410, which means that it no longer exists.{% else %}Every delivery to it has failed for five days.{% endif %} New events are not kept for it.</p>
<p>Once it works again, switch it on in the project's settings. Events that are still pending are then delivered.</p>"#;

/// The emails to the owners, and the write that counts them. Empty if the owners were notified
/// within the last day, or if the project has no owners in `internal`.
pub(super) async fn writes(app: &App, id: &ProjectId, endpoint: &Endpoint, reason: DisabledReason) -> Result<Vec<Write>, store::Error> {
    let (internal, now) = (ProjectId::internal(), app.clock.now());
    let Some(row) = app.store.project(id).await? else { return Ok(Vec::new()) };
    let team = row.project.owner_team_id.as_deref().and_then(|team| TeamId::parse(team).ok());
    let (Some(team), Some(home)) = (team, app.store.project(&internal).await?) else { return Ok(Vec::new()) };
    let Some(count) = app.store.webhook_notice(id, now).await? else { return Ok(Vec::new()) };
    let owners = members::verified(app, &internal, team, |_| true).await?;
    let mail = |user_id: UserId, email: Email| {
        let mut variables = facts(None, now);
        variables.insert("project".to_owned(), json!(line::unlinked(&row.project.display_name)));
        variables.insert("url".to_owned(), json!(line::unlinked(&endpoint.url)));
        variables.insert("is_gone".to_owned(), json!(reason == DisabledReason::Gone));
        let (subject, html, theme_id) = (Some(SUBJECT.to_owned()), Some(HTML.to_owned()), Some(DEFAULT_THEME));
        let source = Source { subject, html, theme_id, ..Source::default() };
        NewEntry { is_high_priority: false, ..to_address((user_id, email), source, variables) }
    };
    let write = |owner: NotifiableMember| {
        let cause = Cause { address: owner.address, place: None };
        gate::notice(app, &home.project.id, cause, mail(owner.user_id, owner.email))
    };
    let mails = owners.into_iter().map(write);
    [Ok(count)].into_iter().chain(mails).collect()
}
