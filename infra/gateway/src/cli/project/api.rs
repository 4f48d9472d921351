//! `gateway project …` on a deployment.

use anyhow::{Context as _, bail};
use model::text::line::plain;
use reqwest::Method;
use serde_json::{Value, json};
use wire::id::ProjectId;

use super::super::confirm::deletion;
use super::super::deployment::output::{self, Output, text};
use super::super::deployment::{Administrator, Session};
use super::super::input::project_id;
use crate::keys::{Keys, Role};
use crate::say::say;

/// The end of the year 9999, which means that keys never expire.
const NEVER_MILLIS: i64 = 253_402_300_799_000;

const CURRENT: &str = "/internal/projects/current";

pub(super) async fn list(mut session: Session, output: &Output) -> anyhow::Result<()> {
    let projects = session.own(Method::GET, "/internal/projects", None).await?;
    let projects = projects["items"].as_array().into_iter().flatten();
    output.names(projects.map(|project| (text(&project["id"]), text(&project["display_name"]))))
}

pub(super) async fn create(mut session: Session, name: &str, team: Option<&str>) -> anyhow::Result<()> {
    let team = match team {
        Some(team) => team.to_owned(),
        None => own_team(&mut session).await?,
    };
    let body = json!({ "display_name": name, "owner_team_id": team });
    let project = session.own(Method::POST, "/internal/projects", Some(&body)).await?;
    let id = project["id"].as_str().context("the new project has no id")?.to_owned();
    add_keys(Administrator::new(session, Some(&id)).await?, "Made with the project").await
}

/// The user's selected team or, without a selection, their only team.
async fn own_team(session: &mut Session) -> anyhow::Result<String> {
    let user = session.own(Method::GET, "/users/me", None).await?;
    if let Some(team) = user["selected_team_id"].as_str() {
        return Ok(team.to_owned());
    }
    let teams = session.own(Method::GET, "/teams?user_id=me", None).await?;
    match teams["items"].as_array().map_or(&[][..], Vec::as_slice) {
        [team] => Ok(text(&team["id"])),
        [] => bail!("projects belong to teams, and you are not in any team of the project `internal`: ask a team member to add you"),
        more => {
            let teams: Vec<String> = more.iter().map(|team| format!("{} ({})", text(&team["id"]), text(&team["display_name"]))).collect();
            bail!("you are in several teams ({}): choose one with --team ID", plain(&teams.join(", ")))
        }
    }
}

pub(super) async fn transfer(mut session: Session, id: &str, team: &str) -> anyhow::Result<()> {
    let body = json!({ "project_id": project_id(id)?, "new_team_id": team });
    session.own(Method::POST, "/internal/projects/transfer", Some(&body)).await?;
    say!("team {} now owns project {} at {}", plain(team), plain(id), session.url());
    Ok(())
}

pub(super) async fn delete(session: Session, id: &str, confirm: Option<String>) -> anyhow::Result<()> {
    let mut administrator = Administrator::new(session, Some(id)).await?;
    let project = administrator.get(CURRENT).await?;
    let name = text(&project["display_name"]);
    let what = format!("{name:?} with all its users, teams and emails, {}", administrator.place());
    deletion("project", &what, administrator.project.clone().as_str(), confirm)?;
    let body = json!({ "project_id": administrator.project });
    administrator.ask(Method::DELETE, CURRENT, Some(&body)).await?;
    say!("deleted {}", administrator.place());
    Ok(())
}

pub(super) async fn show(session: Session, id: &str) -> anyhow::Result<()> {
    output::json(&Administrator::new(session, Some(id)).await?.get(CURRENT).await?)
}

pub(super) async fn set(session: Session, id: &str, patch: &Value, output: &Output) -> anyhow::Result<()> {
    let mut administrator = Administrator::new(session, Some(id)).await?;
    let before = administrator.get(CURRENT).await?;
    output.changed(&before, &administrator.ask(Method::PATCH, CURRENT, Some(patch)).await?)
}

pub(super) async fn new_keys(session: Session, id: &str) -> anyhow::Result<()> {
    add_keys(Administrator::new(session, Some(id)).await?, "Created on the command line").await
}

async fn add_keys(mut administrator: Administrator, description: &str) -> anyhow::Result<()> {
    let body = json!({
        "description": description,
        "expires_at_millis": NEVER_MILLIS,
        "has_publishable_client_key": true,
        "has_secret_server_key": true,
        "has_super_secret_admin_key": true,
    });
    let created = administrator.ask(Method::POST, "/internal/api-keys", Some(&body)).await?;
    print!("{}", keys(administrator.project, &created)?.lines(Role::First));
    Ok(())
}

/// The keys in a response that contains all three kinds of keys.
fn keys(project_id: ProjectId, created: &Value) -> anyhow::Result<Keys> {
    let key = |name: &str| created[name].as_str().map(|key| key.to_owned().into()).with_context(|| format!("the response has no {name}"));
    let (client, server, admin) = (key("publishable_client_key")?, key("secret_server_key")?, key("super_secret_admin_key")?);
    Ok(Keys { project_id, client, server, admin })
}
