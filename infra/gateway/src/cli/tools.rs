//! Which data commands work on, and what they do it with.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use crypto::deployment_secret::DeploymentSecret;
use crypto::password::hash::Hasher;
use crypto::seal::Sealer;
use flows::App;
use model::limit::Limits;
use model::project::Project;
use settings::{Settings, deployment_secret};
use store::{Store, record};
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::aws::Aws;
use crate::data::Data;
use crate::engine::Engine;

/// Which data a command works on.
#[derive(Args, Clone)]
pub(super) struct Target {
    /// Folder of the gateway's data. One gateway at a time serves it; the other commands work on it with and without one
    #[arg(long, global = true, value_name = "DIR", env = "GATELET_DATA", default_value = ".gatelet")]
    pub(super) data: PathBuf,
    /// Work on this table of AWS instead of the gateway's data. Credentials and region are found where the AWS CLI finds them: environment,
    /// `AWS_PROFILE` and `~/.aws`, single sign-on, role of the machine
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) table: Option<String>,
}

/// What the commands that are not `serve` work with.
pub(super) struct Tools {
    pub(super) store: Store,
    pub(super) sealer: Sealer,
    pub(super) secret: DeploymentSecret,
    pub(super) clock: Clock,
    pub(super) entropy: Entropy,
}

impl Tools {
    pub(super) async fn open(target: &Target) -> anyhow::Result<Self> {
        let (store, secret): (Store, DeploymentSecret) = match &target.table {
            Some(table) => {
                let secret = variable("GATELET_SECRET")
                    .context("GATELET_SECRET is not set: the deployment's secret seals the secrets of providers")?;
                (Aws::find().await?.store(table)?, deployment_secret(secret)?)
            }
            None => {
                let data = Data::existing(&target.data)?;
                let engine = Engine::open(Some(&data.database()), &Entropy::system(), None).await?;
                // As `serve` does: a gateway that takes its secret from the environment has another in its folder, or none.
                let secret = variable("GATELET_SECRET").map(deployment_secret).transpose()?;
                (engine.store(), secret.map_or_else(|| data.secret(&Entropy::system()), Ok)?)
            }
        };
        Ok(Self { store, sealer: Sealer::new(&secret), secret, clock: Clock::system(), entropy: Entropy::system() })
    }

    /// Does what a command does to a project, which leaves an entry in its trail.
    pub(super) fn recorded<F: Future>(
        &self,
        operation: &str,
        project: &Project,
        fields: Vec<String>,
        work: F,
    ) -> impl Future<Output = F::Output> {
        record::by_system(operation, project, fields, &self.clock, &self.entropy, work)
    }

    /// What operations work with, for a command that does what an operation does. It answers and sends nothing, so its URLs name nothing.
    pub(super) fn app(&self) -> anyhow::Result<App> {
        let url = "http://localhost".to_owned();
        let settings = Settings {
            senders: settings::senders(&url, "*")?,
            site_url: url.clone(),
            api_url: url,
            secret: self.secret.clone(),
            origin_secret: None,
            access_token_life: settings::access_token_life()?,
            limits: Limits::off(),
            stage: None,
            mails_per_hour: None,
            trust_viewer_headers: false,
            development: true,
            allow_private_issuers: false,
            provider_stand_in: None,
        };
        Ok(App::new(settings, self.store.clone(), self.clock.clone(), self.entropy.clone(), Hasher::default()))
    }
}
