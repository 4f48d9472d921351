//! Checks OAuth providers: the deployment must have a client for each provider whose shared client
//! is used by a project.

use std::collections::BTreeMap;
use std::io::{self, Write};

use model::project::OAuthProvider;
use model::provider::shared::shareable;

use super::deployment::Deployment;
use super::report::Report;
use crate::causes::with_causes;

pub(super) async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    let projects = match deployment.store.projects().await {
        Ok(projects) => projects,
        Err(error) => return report.fail("providers", format!("cannot read the projects: {}", with_causes(&error))),
    };
    let mut sharing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in projects {
        let row = match deployment.store.project(&line.id).await {
            Ok(row) => row,
            Err(error) => return report.fail("providers", format!("cannot read project {}: {}", line.id, with_causes(&error))),
        };
        let providers = row.map(|row| row.project.config.oauth_providers).unwrap_or_default();
        for provider in providers.into_iter().filter(OAuthProvider::is_shared) {
            sharing.entry(provider.id).or_default().push(line.id.to_string());
        }
    }
    for (provider, projects) in &sharing {
        let variable = shareable(provider).map(|shared| shared.id_variable).unwrap_or_default();
        match deployment.shared_clients.get(provider) {
            Some(_) => report.ok("providers", format!("the deployment's {provider} client is used by {}", projects.join(", ")))?,
            None => {
                let problem = format!(
                    "the deployment's {provider} client is used by {}, but was not checked: set {variable} to its id",
                    projects.join(", ")
                );
                report.warn("providers", problem)?;
            }
        }
    }
    if sharing.is_empty() { report.ok("providers", "no project uses a client of the deployment") } else { Ok(()) }
}
