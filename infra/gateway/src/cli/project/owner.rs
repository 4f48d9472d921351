//! The team of the project `internal` that owns a project. The team's members see the project in
//! the console and administer it over the API.

use anyhow::{anyhow, bail};
use model::project::Project;
use model::team::Team;
use store::Label;
use store::Listing;
use store::project::ProjectRow;
use wire::id::{ProjectId, TeamId};

use super::super::team::data::user;
use super::super::tools::{Target, Tools};
use crate::say::say;

/// The owner of a new project: the team named by the command or, if only the operator can create
/// users of the folder's project `internal`, that project's only team.
pub(super) async fn find_owner(tools: &Tools, target: &Target, owner: Option<&str>) -> anyhow::Result<Option<Team>> {
    if let Some(owner) = owner {
        return Ok(Some(find_team(tools, owner).await?));
    }
    let Some(internal) = tools.store.project(&ProjectId::internal()).await? else { return Ok(None) };
    if target.table.is_some() || internal.project.config.sign_up_enabled {
        return Ok(None);
    }
    let mut teams = teams(tools).await?;
    Ok(if teams.len() == 1 { teams.pop() } else { None })
}

/// Explains on standard error how to see a new project in the console.
pub(super) async fn explain(tools: &Tools, target: &Target, project: &Project, owner: Option<&Team>) -> anyhow::Result<()> {
    if project.id.is_internal() || target.table.is_some() {
        return Ok(());
    }
    if let Some(team) = owner {
        eprintln!("the team {:?} owns the project: members of the team can see it in the console after they sign in", team.display_name);
        return Ok(());
    }
    let data = format!(" --data {}", target.folder().display());
    eprintln!("No team owns the project, so the console does not show it. To see the project in the console after signing in:");
    let owner = if teams(tools).await?.is_empty() {
        eprintln!("  gateway user create YOUR-ADDRESS{data}");
        "YOUR-ADDRESS"
    } else {
        eprintln!("  gateway team list{data}");
        "TEAM"
    };
    eprintln!("  gateway project transfer {} {owner}{data}", project.id);
    Ok(())
}

pub(super) async fn transfer(tools: &Tools, row: ProjectRow, owner: &str) -> anyhow::Result<()> {
    if row.project.id.is_internal() {
        bail!("no team can own the project `internal`");
    }
    let (project, team) = (row.project.clone(), find_team(tools, owner).await?);
    let give = tools.store.give_project(row, team.id);
    match tools.recorded("gateway-project-transfer", &project, Vec::new(), give).await {
        Ok(()) => {}
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Team) => bail!("team {} was deleted in the meantime", team.id),
        Err(store::Error::Conflict(_)) => bail!("project {} was changed in the meantime: try again", project.id),
        Err(error) => return Err(error.into()),
    }
    say!("the team {:?} ({}) now owns project {}", team.display_name, team.id, project.id);
    Ok(())
}

/// The team of `internal` with the given id, or the only team of the user with the given address.
async fn find_team(tools: &Tools, owner: &str) -> anyhow::Result<Team> {
    let internal = &ProjectId::internal();
    let id = if let Ok(id) = TeamId::parse(owner) {
        id
    } else {
        let user = user(tools, internal, owner).await?;
        match tools.store.memberships(internal, user.id).await?[..] {
            [ref only] => only.team_id,
            [] => {
                bail!("{owner} is not in any team of the project `internal`: run `gateway team add TEAM {owner}` to add the user to a team")
            }
            _ => bail!("{owner} is in several teams: name one by its id (run `gateway team list` to see the ids)"),
        }
    };
    let row = tools.store.team(internal, id).await?;
    Ok(row.ok_or_else(|| anyhow!("the project `internal` has no team {id}: run `gateway team list` to see the ids"))?.team)
}

/// The first two teams of `internal`.
async fn teams(tools: &Tools) -> anyhow::Result<Vec<Team>> {
    let listing = Listing { after: None, descending: false, limit: 2, read: 2 };
    Ok(tools.store.team_page(&ProjectId::internal(), listing, |_| true).await?.rows)
}
