//! Tells those who may manage a team's API keys that one of the keys was found in public.

use flows::App;
use flows::email::notice::{entry, facts, to_primary_address};
use model::notice::kind::Topic;
use model::outbox::{NewEntry, Source};
use model::owned_key::{OwnedKey, OwnedKeys};
use model::permission::System;
use model::project::Project;
use model::team::{Team, may};
use model::text::line;
use serde_json::json;
use store::Write;
use wire::id::{TeamId, UserId};

/// The maximum number of managers who are told, as their emails are written in one transaction.
const MOST_MANAGERS: usize = 50;
/// How many members are read at once.
const PAGE: usize = 100;
const SUBJECT: &str = "An API key of {{ variables.team }} was revoked";
const HTML: &str = r#"<h1>An API key was revoked</h1>
<p>The API key of the team {{ variables.team }} ending in {{ variables.last_four }} was found in public, and has been revoked.</p>
<p class="facts">{{ variables.description }}<br>{{ variables.time }}</p>
<p>Programs that use it no longer work. If they are needed, create a new key for them, and keep it secret.</p>"#;

/// The emails about a key that is marked as exposed in `after`, but not yet in `team`. A change
/// marks at most one key.
pub(super) async fn notices(app: &App, project: &Project, team: &Team, after: &OwnedKeys) -> Result<Vec<Write>, store::Error> {
    let is_news = |key: &&OwnedKey| key.was_exposed && team.api_keys.get(key.id).is_some_and(|old| !old.was_exposed);
    let Some(key) = after.iter().find(is_news) else { return Ok(Vec::new()) };
    if project.config.disabled_notices.contains(&Topic::ApiKey) {
        return Ok(Vec::new());
    }
    let managers = managers(app, project, team.id).await?;
    managers.into_iter().map(|manager| entry(app, project, mail(app, project, team, key, manager))).collect()
}

fn mail(app: &App, project: &Project, team: &Team, key: &OwnedKey, user_id: UserId) -> NewEntry {
    let mut variables = facts(None, app.clock.now());
    variables.insert("team".to_owned(), json!(line::unlinked(&team.display_name)));
    variables.insert("description".to_owned(), json!(line::unlinked(&key.description)));
    variables.insert("last_four".to_owned(), json!(key.last_four));
    let (subject, html, theme_id) = (Some(SUBJECT.to_owned()), Some(HTML.to_owned()), Some(project.config.email.theme()));
    to_primary_address(user_id, Source { subject, html, theme_id, ..Source::default() }, variables)
}

/// The members who may manage the team's keys; at most [`MOST_MANAGERS`].
async fn managers(app: &App, project: &Project, team: TeamId) -> Result<Vec<UserId>, store::Error> {
    let (mut managers, mut after) = (Vec::new(), None);
    loop {
        let (members, more) = app.store.members(&project.id, team, after, PAGE).await?;
        after = members.last().map(|member| member.user_id);
        let manages = members.iter().filter(|member| may(&project.config.rbac, Some(&member.grants), System::ManageApiKeys));
        managers.extend(manages.map(|member| member.user_id));
        managers.truncate(MOST_MANAGERS);
        if managers.len() == MOST_MANAGERS || !more || after.is_none() {
            return Ok(managers);
        }
    }
}
