//! `gateway doctor --table NAME`: checks the resources of a deployment.

use anyhow::{Context as _, bail};
use clap::Args;
use settings::{base_url, deployment_secret};
use wire::environment::variable;

use super::tools::Target;
use crate::aws::Aws;
use crate::doctor::{Deployment, Report, examine};

#[derive(Args)]
pub(super) struct Options {
    /// Base URL of the API. If given, calls operations to check that their functions respond
    #[arg(long, env = "GATELET_API_URL", value_name = "URL")]
    api_url: Option<String>,
    /// The address or domain from which emails are sent
    #[arg(long, env = "GATELET_SENDER", value_name = "IDENTITY")]
    sender: Option<String>,
    /// SES configuration set for the emails
    #[arg(long, env = "GATELET_SES_CONFIGURATION_SET", value_name = "NAME")]
    configuration_set: Option<String>,
}

impl Options {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let table = target
            .table
            .as_deref()
            .context("--table is required: pass the name of the deployment's table, which is an output of the stack")?;
        let api_url = self.api_url.filter(|url| !url.is_empty()).map(|url| base_url("GATELET_API_URL", &url)).transpose()?;
        let aws = Aws::find().await?;
        let deployment = Deployment {
            store: aws.store(table)?,
            aws,
            secret: variable("GATELET_SECRET").map(deployment_secret),
            api_url,
            sender: self.sender.filter(|sender| !sender.is_empty()),
            configuration_set: self.configuration_set.filter(|name| !name.is_empty()),
            shared_clients: settings::shared_clients(variable),
        };
        let mut report = Report::new(std::io::stdout());
        examine(&deployment, &mut report).await?;
        match report.failures() {
            0 => Ok(()),
            1 => bail!("one check failed"),
            count => bail!("{count} checks failed"),
        }
    }
}
