//! Tells the owners of a project that an endpoint was switched off.

use flows::App;
use flows::email::notice::{entry, facts, to_primary_address};
use model::document::theme::DEFAULT_THEME;
use model::outbox::{NewEntry, Source};
use model::webhook::{DisabledReason, Endpoint};
use serde_json::json;
use store::Write;
use wire::id::{ProjectId, TeamId, UserId};

/// The maximum number of owners who are told.
const MOST_OWNERS: usize = 50;
const SUBJECT: &str = "Webhooks of {{ variables.project }} are switched off";
const HTML: &str = r#"<h1>Webhooks are switched off</h1>
<p>An endpoint of the project {{ variables.project }} no longer receives events:</p>
<p class="facts">{{ variables.url }}<br>{{ variables.time }}</p>
<p>{% if variables.is_gone %}It answered with status 410, which says that it does not exist any more.{% else %}Every delivery to it has failed for five days.{% endif %} Events that happen from now on are not kept for it.</p>
<p>When it works again, switch it on in the project's settings. Events that are still pending are then delivered.</p>"#;

/// The emails to the owners. A project without owners in `internal` has nobody to tell.
pub(super) async fn writes(app: &App, id: &ProjectId, endpoint: &Endpoint, reason: DisabledReason) -> Result<Vec<Write>, store::Error> {
    let internal = ProjectId::internal();
    let Some(row) = app.store.project(id).await? else { return Ok(Vec::new()) };
    let team = row.project.owner_team_id.as_deref().and_then(|team| TeamId::parse(team).ok());
    let (Some(team), Some(home)) = (team, app.store.project(&internal).await?) else { return Ok(Vec::new()) };
    let (owners, _) = app.store.members(&internal, team, None, MOST_OWNERS).await?;
    let now = app.clock.now();
    let mail = |user_id: UserId| {
        let mut variables = facts(None, now);
        variables.insert("project".to_owned(), json!(row.project.display_name));
        variables.insert("url".to_owned(), json!(endpoint.url));
        variables.insert("is_gone".to_owned(), json!(reason == DisabledReason::Gone));
        let (subject, html, theme_id) = (Some(SUBJECT.to_owned()), Some(HTML.to_owned()), Some(DEFAULT_THEME));
        let source = Source { subject, html, theme_id, ..Source::default() };
        NewEntry { is_high_priority: false, ..to_primary_address(user_id, source, variables) }
    };
    owners.into_iter().map(|owner| entry(app, &home.project, mail(owner.user_id))).collect()
}
