//! Notifies the members who may manage a team's API keys that one of the keys was found in public.
//!
//! The email contains the team's name and the key's description, and anyone who has the key can
//! cause the email. So that members cannot misuse the email to send texts of their choice to
//! strangers, it is sent only to verified addresses, and the number of emails per team is limited.

use flows::App;
use flows::email::gate::{self, Cause};
use flows::email::members::{self, NotifiableMember};
use flows::email::notice::{facts, to_address};
use jiff::Timestamp;
use model::email::Email;
use model::email::notice::{Kind, Topic};
use model::outbox::{NewEntry, Source};
use model::owned_key::OwnedKey;
use model::permission::System;
use model::project::Project;
use model::team::{Team, may};
use model::text::line;
use serde_json::json;
use store::Write;
use store::team::membership::MemberRow;
use wire::id::UserId;

const SUBJECT: &str = "An API key of {{ variables.team }} was revoked";
const HTML: &str = r#"<h1>An API key was revoked</h1>
<p>The API key of the team {{ variables.team }} ending in {{ variables.last_four }} was found in public, and has been revoked.</p>
<p class="facts">{{ variables.description }}<br>{{ variables.time }}</p>
<p>Programs that use it no longer work. If they are needed, create a new key for them, and keep it secret.</p>
{% if variables.is_last %}<p>Several keys were found within an hour. This is the last email about them for now.</p>{% endif %}"#;

/// The emails about a key that is marked as exposed in `after` but not in `before`. A change marks
/// at most one key. The notice is counted in `after`. Empty if the project has disabled the emails,
/// or if a scheduled notice covers the key
/// ([`Notices::admit`](model::user::notices::Notices::admit)).
pub(super) async fn notices(app: &App, project: &Project, before: &Team, after: &mut Team) -> Result<Vec<Write>, store::Error> {
    let is_news = |key: &&OwnedKey| key.was_exposed && before.api_keys.get(key.id).is_some_and(|old| !old.was_exposed);
    let Some(key) = after.api_keys.iter().find(is_news) else { return Ok(Vec::new()) };
    if project.config.disabled_notices.contains(&Topic::ApiKey) {
        return Ok(Vec::new());
    }
    let now = app.clock.now();
    let Some(sent_at) = after.notices.admit(&[Kind::ApiKeyExposed], now) else { return Ok(Vec::new()) };
    let manages = |member: &MemberRow| may(&project.config.rbac, Some(&member.grants), System::ManageApiKeys);
    let managers = members::verified(app, &project.id, after.id, manages).await?;
    let write = |manager: NotifiableMember| {
        let cause = Cause { address: manager.address, place: None };
        gate::notice(app, &project.id, cause, mail(project, after, key, (manager.user_id, manager.email), (now, sent_at)))
    };
    managers.into_iter().map(write).collect()
}

fn mail(project: &Project, team: &Team, key: &OwnedKey, manager: (UserId, Email), (now, sent_at): (Timestamp, Timestamp)) -> NewEntry {
    let mut variables = facts(None, now);
    variables.insert("team".to_owned(), json!(line::unlinked(&team.display_name)));
    variables.insert("description".to_owned(), json!(line::unlinked(&key.description)));
    variables.insert("last_four".to_owned(), json!(key.last_four));
    let (subject, html, theme_id) = (Some(SUBJECT.to_owned()), Some(HTML.to_owned()), Some(project.config.email.theme()));
    variables.insert("is_last".to_owned(), json!(sent_at > now));
    let new = to_address(manager, Source { subject, html, theme_id, ..Source::default() }, variables);
    NewEntry { scheduled_at: Some(sent_at), ..new }
}
