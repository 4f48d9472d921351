//! `gateway team …`: manages the teams of a deployment's project or, for the operator, team members
//! in a data folder or table.

pub(super) mod data;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use model::text::line::plain;
use reqwest::Method;
use serde_json::{Value, json};
use wire::id::TeamId;

use super::confirm::deletion;
use super::deployment::output::{self, text, time};
use super::deployment::{Administrator, CommonOptions, ItemChoice, ListOptions, ProjectChoice};
use super::input;
use super::tools::Target;
use crate::say::say;
use data::Operator;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List teams over the API or, with --data or --table, the teams of the project `internal`
    List {
        /// Only teams whose name contains this text
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
        #[command(flatten)]
        listed: ListOptions,
    },
    /// Show a team; to list its members, use `gateway user list --team ID`
    Show(ItemChoice),
    /// Create a team
    Create {
        name: String,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Add a user to a team over the API or, with --data or --table, in the project `internal`
    Add(Membership),
    /// Remove a user from a team over the API or, with --data or --table, in the project `internal`
    Remove(Membership),
    /// Permanently delete a team
    Delete {
        id: String,
        #[command(flatten)]
        of: ProjectChoice,
        /// The id again, to skip the prompt
        #[arg(long, value_name = "ID")]
        confirm: Option<String>,
    },
}

#[derive(Args)]
pub(super) struct Membership {
    /// The team's id
    team: String,
    /// The user's id or verified primary email address
    user: String,
    #[command(flatten)]
    of: ProjectChoice,
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::List { query, listed } => {
                let columns = |team: &Value| [text(&team["id"]), text(&team["display_name"]), time(&team["created_at_millis"])];
                let heads = ["ID", "NAME", "CREATED"];
                if target.is_data() {
                    let teams = Operator::open(target, listed.of.project.as_deref()).await?.teams(query.as_deref(), listed.limit).await?;
                    return listed.output.list(heads, teams, columns);
                }
                listed.print(target, ("/teams", &[("query", query)]), heads, columns).await
            }
            Self::Show(ItemChoice { id, of }) => {
                let path = path(&id)?;
                output::json(&Administrator::required(target, of).await?.get(&path).await?)
            }
            Self::Create { name, common: CommonOptions { of, output } } => {
                let mut administrator = Administrator::required(target, of).await?;
                let team = administrator.ask(Method::POST, "/teams", Some(&json!({ "display_name": name }))).await?;
                output.done(&format!("created team {} ({name}) in {}", text(&team["id"]), administrator.place()), &team)
            }
            Self::Add(it) if target.is_data() => it.operator(target).await?.add(parse_id(&it.team)?, &it.user).await,
            Self::Remove(it) if target.is_data() => it.operator(target).await?.remove(parse_id(&it.team)?, &it.user).await,
            Self::Add(membership) => membership.change(target, Method::POST, "added", "to").await,
            Self::Remove(membership) => membership.change(target, Method::DELETE, "removed", "from").await,
            Self::Delete { id, of, confirm } => delete(target, &id, of, confirm).await,
        }
    }
}

fn parse_id(id: &str) -> anyhow::Result<TeamId> {
    input::id(id, TeamId::parse, "a team", "team list")
}

fn path(id: &str) -> anyhow::Result<String> {
    Ok(format!("/teams/{}", parse_id(id)?))
}

impl Membership {
    async fn operator(&self, target: &Target) -> anyhow::Result<Operator> {
        Operator::open(target, self.of.project.as_deref()).await
    }

    async fn change(self, target: &Target, method: Method, done: &str, preposition: &str) -> anyhow::Result<()> {
        let team = parse_id(&self.team)?;
        let mut administrator = Administrator::required(target, self.of).await?;
        let user = administrator.user(&self.user).await?;
        let id = user["id"].as_str().context("the user has no id")?;
        administrator.ask(method, &format!("/team-memberships/{team}/{id}"), None).await?;
        say!("{done} user {} {preposition} team {team}", plain(id));
        Ok(())
    }
}

async fn delete(target: &Target, id: &str, of: ProjectChoice, confirm: Option<String>) -> anyhow::Result<()> {
    let path = path(id)?;
    let mut administrator = Administrator::required(target, of).await?;
    let team = administrator.get(&path).await?;
    let (id, name) = (text(&team["id"]), text(&team["display_name"]));
    deletion("team", &format!("the team {name:?} of {}", administrator.place()), &id, confirm)?;
    administrator.ask(Method::DELETE, &path, None).await?;
    say!("deleted team {id} of {}", administrator.place());
    Ok(())
}
