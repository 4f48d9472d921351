//! `gateway project …`: projects, for the people who run them.

use std::fmt::Write as _;

use anyhow::{Context as _, anyhow, bail};
use clap::Subcommand;
use serde_json::{Map, Value};
use shared::model::id::ProjectId;
use shared::model::project::Project;
use shared::model::project_patch::{ProjectPatch, Secrets};
use shared::model::project_view::AdminProject;
use shared::product_api::input::Problems;
use shared::store;
use shared::store::projects::ProjectRow;

use super::Tools;
use crate::keys::Keys;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a project and print its keys, which are shown this once
    Create {
        name: String,
        /// A UUID, or `internal`; by default a new one
        #[arg(long)]
        id: Option<String>,
    },
    /// List all projects
    List,
    /// Show a project with its settings
    Show { id: String },
    /// Make and print a new set of keys for a project; the others stay valid
    Keys { id: String },
    /// Change settings, those of the admin operation: `config.sign_up_enabled=false`, `display_name=Notes`
    Set {
        id: String,
        /// `path=value`; a value is JSON, or else text
        #[arg(required = true, value_name = "SETTING")]
        settings: Vec<String>,
    },
}

impl Command {
    pub(super) async fn run(self, tools: &Tools) -> anyhow::Result<()> {
        match self {
            Self::Create { name, id } => create(tools, &name, id).await,
            Self::List => list(tools).await,
            Self::Show { id } => show(&find(tools, &id).await?.project),
            Self::Keys { id } => new_keys(tools, &id).await,
            Self::Set { id, settings } => set(tools, &id, &settings).await,
        }
    }
}

async fn find(tools: &Tools, id: &str) -> anyhow::Result<ProjectRow> {
    let id = parse_id(id)?;
    tools.store.project(&id).await?.ok_or_else(|| anyhow!("there is no project {id}"))
}

fn parse_id(id: &str) -> anyhow::Result<ProjectId> {
    ProjectId::parse(id).with_context(|| format!("{id:?} is not the id of a project"))
}

fn print_keys(keys: &Keys) {
    print!("{}", keys.lines());
}

async fn create(tools: &Tools, name: &str, id: Option<String>) -> anyhow::Result<()> {
    if !Project::is_name(name) {
        bail!("a project needs a name, one line of 1 to 256 characters");
    }
    let id = id.map_or_else(|| Ok(ProjectId::from(tools.entropy.uuid())), |id| parse_id(&id))?;
    let keys = Keys::generate(&tools.entropy, id.clone());
    let now = tools.clock.now();
    let set = keys.set(&tools.entropy, "Made with the project", now);
    match tools.store.create_project(&Project::new(id.clone(), name, now), &set).await {
        Ok(()) => print_keys(&keys),
        Err(store::Error::Conflict(_)) => bail!("there is a project {id} already"),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

async fn list(tools: &Tools) -> anyhow::Result<()> {
    for line in tools.store.projects().await? {
        println!("{}  {}", line.id, line.display_name);
    }
    Ok(())
}

fn show(project: &Project) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(&AdminProject::of(project, true))?);
    Ok(())
}

async fn new_keys(tools: &Tools, id: &str) -> anyhow::Result<()> {
    let project = find(tools, id).await?.project;
    let keys = Keys::generate(&tools.entropy, project.id);
    keys.install(&tools.store, &tools.clock, &tools.entropy).await?;
    print_keys(&keys);
    Ok(())
}

async fn set(tools: &Tools, id: &str, settings: &[String]) -> anyhow::Result<()> {
    let row = find(tools, id).await?;
    let patch = deserr::deserialize::<ProjectPatch, _, Problems>(patch(settings)?).map_err(|problems| anyhow!("{problems}"))?;
    let project = patch.apply(row.project, &Secrets { sealer: &tools.sealer, entropy: &tools.entropy })?;
    match tools.store.update_project(&project, row.version).await {
        Ok(()) => show(&project),
        Err(store::Error::Conflict(_)) => bail!("somebody else changed the project at the same time: look, and try again"),
        Err(error) => Err(error.into()),
    }
}

/// The body of the admin operation that some `path=value` mean.
fn patch(settings: &[String]) -> anyhow::Result<Value> {
    let mut patch = Value::Object(Map::new());
    for setting in settings {
        let (path, text) = setting.split_once('=').with_context(|| format!("{setting:?} is not path=value"))?;
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        let mut pointer = String::new();
        let mut place = &mut patch;
        for name in path.split('.') {
            let _ = write!(pointer, ".{name}");
            let object = place.as_object_mut().with_context(|| format!("{pointer} is below a setting that is no object"))?;
            place = object.entry(name).or_insert_with(|| Value::Object(Map::new()));
        }
        *place = value;
    }
    Ok(patch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_body_of_the_admin_operation() {
        let settings = ["display_name=Notes", "config.sign_up_enabled=false", "config.domains=[{\"domain\":\"https://a.test\"}]"];
        let patch = patch(&settings.map(str::to_owned)).expect("a patch");
        let expected = serde_json::json!({
            "display_name": "Notes",
            "config": { "sign_up_enabled": false, "domains": [{ "domain": "https://a.test" }] },
        });
        assert_eq!(patch, expected);
        assert!(super::patch(&["nonsense".to_owned()]).is_err());
    }
}
