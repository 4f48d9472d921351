//! `gateway team …` in a data folder or table, for the operator. Mainly used for the teams of the
//! project `internal`: over the API, only the members of these teams can administer them.

use anyhow::{anyhow, bail};
use flows::teams::{TeamToJoin, joining};
use model::email::any::AnyEmail;
use model::project::Project;
use model::team::Team;
use model::user::User;
use serde_json::{Value, json};
use store::team::membership;
use store::{Error, Label, Listing};
use wire::id::{ProjectId, TeamId, UserId};

use super::super::input::project_id;
use super::super::tools::{Target, Tools};
use crate::say::say;

/// The maximum number of teams read per page.
const PAGE: usize = 100;

/// A project (default: `internal`), and the tools to change its data.
pub(super) struct Operator {
    tools: Tools,
    project: Project,
}

impl Operator {
    pub(super) async fn open(target: &Target, project: Option<&str>) -> anyhow::Result<Self> {
        let (tools, id) = (Tools::open(target).await?, project_id(project.unwrap_or("internal"))?);
        let row = tools.store.project(&id).await?.ok_or_else(|| anyhow!("project {id} does not exist"))?;
        Ok(Self { tools, project: row.project })
    }

    /// The first teams whose name contains the text of `query`, oldest first.
    pub(super) async fn teams(&self, query: Option<&str>, limit: usize) -> anyhow::Result<Vec<Value>> {
        let query = query.map(str::to_lowercase);
        let has = |team: &Team| query.as_ref().is_none_or(|query| team.display_name.to_lowercase().contains(query));
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let listing = Listing { after: after.as_deref(), descending: false, limit: PAGE.min(limit - found.len()), read: PAGE };
            let page = self.tools.store.team_page(&self.project.id, listing, has).await?;
            found.extend(page.rows.iter().map(
                |team| json!({ "id": team.id, "display_name": team.display_name, "created_at_millis": team.created_at.as_millisecond() }),
            ));
            after = page.next;
            if after.is_none() || found.len() >= limit {
                return Ok(found);
            }
        }
    }

    pub(super) async fn add(&self, team: TeamId, user: &str) -> anyhow::Result<()> {
        let (Self { tools, project }, user) = (self, self.user(user).await?);
        let join = tools.store.transact(joining(&tools.app()?, project, TeamToJoin { team, created_at: None, user_version: None }, &user)?);
        match tools.recorded("gateway-team-add", project, Vec::new(), join).await {
            Ok(()) => {}
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::Team) => {
                bail!("project {} has no team {team}: run `gateway team list` to see the ids", project.id)
            }
            Err(Error::Conflict(conflict)) if conflict.is_of(Label::User) => bail!("user {} was deleted in the meantime", user.id),
            Err(Error::Conflict(_)) => bail!("user {} is already a member of team {team}", user.id),
            Err(error) => return Err(error.into()),
        }
        say!("added user {} to team {team}", user.id);
        Ok(())
    }

    pub(super) async fn remove(&self, team: TeamId, user: &str) -> anyhow::Result<()> {
        let (Self { tools, project }, user) = (self, self.user(user).await?.id);
        let row = tools.store.member(&project.id, team, user).await?;
        let row = row.ok_or_else(|| anyhow!("user {user} is not a member of team {team} of project {}", project.id))?;
        let remove = tools.store.transact(membership::remove(&project.id, &row));
        tools.recorded("gateway-team-remove", project, Vec::new(), remove).await?;
        say!("removed user {user} from team {team}");
        Ok(())
    }

    async fn user(&self, text: &str) -> anyhow::Result<User> {
        user(&self.tools, &self.project.id, text).await
    }
}

/// The user whose id is `text`, or who signs in with `text` as a verified address.
pub(crate) async fn user(tools: &Tools, project: &ProjectId, text: &str) -> anyhow::Result<User> {
    let id = if let Ok(id) = UserId::parse(text) {
        id
    } else {
        let Ok(AnyEmail(email)) = AnyEmail::parse(text) else { bail!("{text:?} is neither a user id nor an email address") };
        let claim = tools.store.email_claim(project, &email).await?.filter(|claim| claim.is_verified);
        claim.ok_or_else(|| anyhow!("no user of project {project} signs in with the verified address {email}"))?.user_id
    };
    let row = tools.store.user(project, id).await?;
    Ok(row.ok_or_else(|| anyhow!("project {project} has no user {id}"))?.user)
}
