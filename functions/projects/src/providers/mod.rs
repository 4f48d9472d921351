//! Changes to one OAuth provider of a project.

use std::sync::Arc;

use errors::{Error, KnownError};
use flows::context::Context;
use flows::providers::test_changed;
use model::project::Project;
use model::project::provider_input::key;
use store::optimistic;

/// Applies a change to the provider `id`, and returns the changed project. If the project has
/// changed in the meantime, the change is applied again to the new state.
pub(crate) async fn change(context: Context, id: &str, change: impl Fn(&mut Project) -> Result<(), Error>) -> Result<Project, Error> {
    let Context { app, project, project_version, .. } = context;
    let (mut before, mut version) = (project, project_version);
    optimistic!(|attempt| {
        if attempt > 0 {
            let missing = || KnownError::CurrentProjectNotFound { project_id: before.id.to_string() };
            let row = app.store.project(&before.id).await?.ok_or_else(missing)?;
            (before, version) = (Arc::new(row.project), row.version);
        }
        let mut project = Project::clone(&before);
        change(&mut project)?;
        test_changed(&app, &project.id, &before.config, &project.config).await?;
        let levels = app.store.levels(&before).await?.with_entry(&project, &key(id));
        app.store.update_project(&project, version, Some(&levels)).await?;
        Ok(project)
    })
}
