//! Projects as they are stored in the data folder or table.

use anyhow::anyhow;
use model::project::Project;
use model::project::view::AdminProject;
use serde_json::Value;
use store::project::ProjectRow;

use super::super::input::project_id;
use super::super::tools::Tools;

pub(super) async fn find(tools: &Tools, id: &str) -> anyhow::Result<ProjectRow> {
    let id = project_id(id)?;
    tools.store.project(&id).await?.ok_or_else(|| anyhow!("project {id} does not exist"))
}

/// A project as administrators see it.
pub(super) fn view(project: &Project) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(AdminProject::of(project, true))?)
}
