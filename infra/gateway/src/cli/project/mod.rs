//! `gateway project …`: manages projects.

mod api;
mod owner;
mod provider;
mod stored;

use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Subcommand;
use flows::providers::test_changed;
use model::project::Project;
use model::project::patch::ProjectPatch;
use model::team::Team;
use model::text::line;
use model::trail;
use store::Label;
use store::project::deletion::Purge;
use tokio::time::Instant;
use wire::id::ProjectId;
use wire::problem::Problems;

use self::stored::{find, view};
use super::confirm::deletion;
use super::deployment::Session;
use super::deployment::output::{Output, json};
use super::input::{patch, project_id};
use super::tools::{Target, Tools};
use crate::keys::{Keys, Role, closed_internal};
use crate::saved_keys::SavedKeys;
use crate::say::say;

/// How long the command deletes a project's data before a worker takes over.
const PURGE: Duration = Duration::from_secs(60);

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a project and print its keys, which are shown only once
    Create {
        #[arg(required_unless_present = "internal")]
        name: Option<String>,
        /// A UUID, or `internal` [default: a new UUID]
        #[arg(long)]
        id: Option<String>,
        /// Create the project `internal`, whose users own projects through their teams. Sign-up is
        /// closed until you open it (`project set internal config.sign_up_enabled=true`). The keys
        /// of the project are `GATELET_INTERNAL_CLIENT_KEY`, `GATELET_INTERNAL_SERVER_KEY` and
        /// `GATELET_INTERNAL_ADMIN_KEY`, or new ones
        #[arg(long, conflicts_with = "id")]
        internal: bool,
        /// The team of the project `internal` that will own the project. Default over the API: the
        /// selected team, or else the only team of the signed-in user. Default in a data folder:
        /// the only team, if `internal` has just one team and its sign-up is closed
        #[arg(long, value_name = "ID", conflicts_with = "internal")]
        team: Option<String>,
    },
    /// Permanently delete a project and all its data
    Delete {
        id: String,
        /// The id again, to skip the prompt
        #[arg(long, value_name = "ID")]
        confirm: Option<String>,
    },
    /// Transfer a project to a team of the project `internal`, whose members then see the project
    /// in the console
    Transfer {
        id: String,
        /// The id of the team or, in a data folder or table, the address of a user who is in only
        /// one team
        team: String,
    },
    /// List all projects or, over the API, the projects that your teams own
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a project and its settings
    Show { id: String },
    /// Create and print a new set of keys for a project; existing keys remain valid
    Keys { id: String },
    /// Change settings, named as in `PATCH /api/v1/internal/projects/current`:
    /// `config.sign_up_enabled=false`, `display_name=Notes`
    Set {
        id: String,
        /// `path=value`; a value that is not JSON is used as text
        #[arg(required = true, value_name = "SETTING")]
        settings: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Add, change and remove one OAuth provider of a project
    #[command(subcommand)]
    Provider(provider::Command),
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        if let Some(session) = Session::chosen(target).await? {
            return self.over_the_api(session).await;
        }
        let tools = &Tools::open(target).await?;
        match self {
            Self::Create { name, internal: true, .. } => create_internal(tools, name).await,
            Self::Create { name, id, team, .. } => {
                let owner = owner::find_owner(tools, target, team.as_deref()).await?;
                let project = create(tools, &name.unwrap_or_default(), id, owner.as_ref()).await?;
                owner::explain(tools, target, &project, owner.as_ref()).await
            }
            Self::Transfer { id, team } => owner::transfer(tools, find(tools, &id).await?, &team).await,
            Self::Delete { id, confirm } => delete(tools, &id, confirm).await,
            Self::List { output } => list(tools, &output).await,
            Self::Show { id } => show(&find(tools, &id).await?.project),
            Self::Keys { id } => new_keys(tools, &id).await,
            Self::Set { id, settings, output } => set(tools, &id, &settings, &output).await,
            Self::Provider(command) => command.on_data(tools).await,
        }
    }

    async fn over_the_api(self, session: Session) -> anyhow::Result<()> {
        match self {
            Self::Create { internal: true, .. } | Self::Create { id: Some(_), .. } => {
                bail!("--internal and --id work on a data folder or table, not over the API: add --data DIR or --table NAME")
            }
            Self::Create { name, team, .. } => api::create(session, &name.unwrap_or_default(), team.as_deref()).await,
            Self::Transfer { id, team } => api::transfer(session, &id, &team).await,
            Self::Delete { id, confirm } => api::delete(session, &id, confirm).await,
            Self::List { output } => api::list(session, &output).await,
            Self::Show { id } => api::show(session, &id).await,
            Self::Keys { id } => api::new_keys(session, &id).await,
            Self::Set { id, settings, output } => api::set(session, &id, &patch(&settings)?, &output).await,
            Self::Provider(command) => command.over_the_api(session).await,
        }
    }
}

async fn create_internal(tools: &Tools, name: Option<String>) -> anyhow::Result<()> {
    let mut project = closed_internal(tools.clock.now());
    if let Some(name) = name {
        project.display_name = name;
    }
    let keys = Keys::choose_internal(&SavedKeys::default(), &tools.entropy)?;
    write_project(tools, &project, &keys, Role::Internal).await
}

async fn create(tools: &Tools, name: &str, id: Option<String>, owner: Option<&Team>) -> anyhow::Result<Project> {
    let id = id.map_or_else(|| Ok(ProjectId::from(tools.entropy.uuid())), |id| project_id(&id))?;
    let keys = Keys::generate(&tools.entropy, id.clone());
    let owner_team_id = owner.map(|team| team.id.to_string());
    let project = Project { owner_team_id, ..Project::new(id, name, tools.clock.now()) };
    write_project(tools, &project, &keys, Role::First).await?;
    Ok(project)
}

async fn write_project(tools: &Tools, project: &Project, keys: &Keys, role: Role) -> anyhow::Result<()> {
    line::check(&project.display_name, line::NAME).context("invalid project name")?;
    let set = keys.set(&tools.entropy, "Made with the project", project.created_at);
    let create = tools.store.create_project(project, &set);
    match tools.recorded("gateway-project-create", project, Vec::new(), create).await {
        Ok(()) => print!("{}", keys.lines(role)),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Ending) => {
            bail!("project {} is still being deleted; try again in a minute", project.id)
        }
        Err(store::Error::Conflict(conflict)) if conflict.is_of(Label::Team) => {
            bail!("the team that should own the project was deleted in the meantime")
        }
        Err(store::Error::Conflict(_)) => bail!("project {} already exists", project.id),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

async fn delete(tools: &Tools, id: &str, confirm: Option<String>) -> anyhow::Result<()> {
    let project = find(tools, id).await?.project;
    if project.id.is_internal() {
        bail!("the project `internal` cannot be deleted");
    }
    let what = format!("{:?} with all its users, teams and emails", project.display_name);
    deletion("project", &what, project.id.as_str(), confirm)?;
    let now = tools.clock.now();
    let end = tools.store.end_project(&project, now);
    match tools.recorded("gateway-project-delete", &project, Vec::new(), end).await {
        Ok(()) => {}
        Err(store::Error::Conflict(_)) => bail!("project {} was deleted in the meantime", project.id),
        Err(error) => return Err(error.into()),
    }
    let purge = tools.store.purge_project(&project.id, project.created_at, now, Instant::now() + PURGE).await?;
    let rest = if purge == Purge::Unfinished { "; a worker deletes its remaining data" } else { "" };
    say!("deleted {}{rest}", project.id);
    Ok(())
}

async fn list(tools: &Tools, output: &Output) -> anyhow::Result<()> {
    let projects = tools.store.projects().await?;
    output.names(projects.into_iter().map(|line| (line.id.to_string(), line.display_name)))
}

fn show(project: &Project) -> anyhow::Result<()> {
    json(&view(project)?)
}

async fn new_keys(tools: &Tools, id: &str) -> anyhow::Result<()> {
    let project = find(tools, id).await?.project;
    let keys = Keys::generate(&tools.entropy, project.id);
    keys.install(&tools.store, &tools.clock, &tools.entropy).await?;
    print!("{}", keys.lines(Role::First));
    Ok(())
}

async fn set(tools: &Tools, id: &str, settings: &[String], output: &Output) -> anyhow::Result<()> {
    let row = find(tools, id).await?;
    let before = view(&row.project)?;
    let patch = patch(settings)?;
    let fields = trail::fields(&patch);
    let patch = deserr::deserialize::<ProjectPatch, _, Problems>(patch).map_err(|problems| anyhow!("{problems}"))?;
    let (levels, keys) = (tools.store.levels(&row.project).await?, patch.keys());
    let (config, app) = (row.project.config.clone(), tools.app()?);
    let project = patch.apply(row.project, &app.deployment())?;
    test_changed(&app, &project.id, &config, &project.config).await?;
    let levels = levels.noted(&project, &keys);
    let update = tools.store.update_project(&project, row.version, Some(&levels));
    match tools.recorded("gateway-project-set", &project, fields, update).await {
        Ok(()) => output.changed(&before, &view(&project)?),
        Err(store::Error::Conflict(_)) => bail!("project {} was changed in the meantime: check its settings, and try again", project.id),
        Err(error) => Err(error.into()),
    }
}
