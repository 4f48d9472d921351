//! The command line: `serve`, which is the default, and the commands that work on the data of a gateway or on a table of AWS.

mod audit;
mod content;
mod doctor;
mod environment;
mod health;
mod listen;
mod log;
mod pages;
mod project;
mod reseal;
mod serve;
mod transfer;
mod user;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use crypto::deployment_secret::DeploymentSecret;
use crypto::password::hash::Hasher;
use crypto::seal::Sealer;
use flows::App;
use model::limit::Limits;
use model::project::Project;
use settings::{Settings, base_url, deployment_secret};
use store::{Store, record};
use wire::clock::Clock;
use wire::entropy::Entropy;
use wire::environment::variable;

use crate::aws::Aws;
use crate::data::Data;
use crate::engine::Engine;

/// Gatelet in one process: authentication and public content on an embedded DynamoDB engine.
///
/// For development, tests and installations on one machine; the same code runs on Lambda and DynamoDB.
#[derive(Parser)]
#[command(version, after_help = "Environment variables: gateway help environment")]
pub struct Cli {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    serve: serve::Options,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Which data a command works on.
#[derive(Args, Clone)]
pub(crate) struct Target {
    /// Folder of the gateway's data. One gateway at a time serves it; the other commands work on it with and without one
    #[arg(long, global = true, value_name = "DIR", env = "GATELET_DATA", default_value = ".gatelet")]
    data: PathBuf,
    /// Work on this table of AWS instead of the gateway's data. Credentials and region are found where the AWS CLI finds them: environment,
    /// `AWS_PROFILE` and `~/.aws`, single sign-on, role of the machine
    #[arg(long, global = true, value_name = "NAME")]
    table: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Answer on one port: the API, the inbox, the API reference
    Serve(serve::Options),
    /// Print the link that opens the start page, the inbox and the outbox of a running gateway
    Pages,
    /// Create projects, and read and change their settings
    #[command(subcommand)]
    Project(project::Command),
    /// Create users
    #[command(subcommand)]
    User(user::Command),
    /// Publish the public content of the site
    #[command(subcommand)]
    Content(content::Command),
    /// Read and verify the audit log of projects
    #[command(subcommand)]
    Audit(audit::Command),
    /// Write everything that the table has to a folder
    Export(transfer::Export),
    /// Write what a folder has to the table
    Import(transfer::Import),
    /// Seal with the current deployment secret what is sealed with the previous one (`GATELET_SECRET`, `GATELET_SECRET_PREVIOUS`)
    Reseal,
    /// List the environment variables
    #[command(long_about = environment::text())]
    Environment,
    /// Ask a gateway whether it answers; the exit status says so
    Health(health::Options),
    /// Examine a deployment: table, backups, secret, functions, sender; fails when something is broken
    Doctor(doctor::Options),
}

impl Cli {
    pub async fn run(self) -> anyhow::Result<()> {
        match self.command {
            None => serve::run(&self.target, self.serve).await,
            Some(Command::Serve(options)) => serve::run(&self.target, options).await,
            Some(Command::Pages) => pages::run(&self.target.data),
            Some(Command::Project(command)) => command.run(&Tools::open(&self.target).await?).await,
            Some(Command::User(command)) => command.run(&Tools::open(&self.target).await?).await,
            Some(Command::Content(command)) => command.run(&self.target).await,
            Some(Command::Audit(command)) => command.run(&Tools::open(&self.target).await?).await,
            Some(Command::Export(command)) => command.run(&self.target).await,
            Some(Command::Import(command)) => command.run(&self.target).await,
            Some(Command::Reseal) => reseal::run(&Tools::open(&self.target).await?).await,
            Some(Command::Environment) => {
                print!("{}", environment::text());
                Ok(())
            }
            Some(Command::Health(options)) => options.run().await,
            Some(Command::Doctor(options)) => options.run(&self.target).await,
        }
    }
}

/// What the commands that are not `serve` work with.
pub(crate) struct Tools {
    pub(crate) store: Store,
    pub(crate) sealer: Sealer,
    secret: DeploymentSecret,
    pub(crate) clock: Clock,
    pub(crate) entropy: Entropy,
}

impl Tools {
    pub(crate) async fn open(target: &Target) -> anyhow::Result<Self> {
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
    pub(crate) fn recorded<F: Future>(
        &self,
        operation: &str,
        project: &Project,
        fields: Vec<String>,
        work: F,
    ) -> impl Future<Output = F::Output> {
        record::by_system(operation, project, fields, &self.clock, &self.entropy, work)
    }

    /// What operations work with, for a command that does what an operation does. It answers and sends nothing, so its URLs name nothing.
    pub(crate) fn app(&self) -> anyhow::Result<App> {
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

/// The URL of the site, for links in its content.
pub(crate) fn site_url(listen: &str) -> anyhow::Result<String> {
    match variable("GATELET_SITE_URL") {
        Some(url) => Ok(base_url("GATELET_SITE_URL", &url)?),
        None => Ok(format!("http://{listen}")),
    }
}
