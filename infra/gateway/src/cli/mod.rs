//! The commands of the gateway: `serve`, which is the default, and commands that work on a
//! gateway's data, on an AWS table, or on a deployment over its API.

mod audit;
mod client;
mod confirm;
mod content;
mod deployment;
mod doctor;
mod email;
mod environment;
mod health;
mod input;
mod key;
mod listen;
mod log;
mod metrics;
mod pages;
mod project;
mod reseal;
mod secret;
mod serve;
mod serving;
mod team;
mod tools;
mod transfer;
mod user;

use clap::{Parser, Subcommand};
use tools::{Target, Tools};

/// Gatelet in one process: authentication and public content on an embedded DynamoDB engine.
///
/// For development, tests and single-machine installations; the same code runs on Lambda and
/// DynamoDB.
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

#[derive(Subcommand)]
enum Command {
    /// Serve the API, its reference, the console, the inbox and the outbox on one port
    Serve(serve::Options),
    /// Print the link that opens the console, the inbox and the outbox of a running gateway
    Pages,
    /// Create, list, change and delete projects, and create keys for them
    #[command(subcommand)]
    Project(project::Command),
    /// Create, list, change and delete users
    #[command(subcommand)]
    User(user::Command),
    /// Manage teams and their members
    #[command(subcommand)]
    Team(team::Command),
    /// Create, list and revoke a project's keys
    #[command(subcommand)]
    Key(key::Command),
    /// Manage a project's OAuth clients: applications that users can sign in to
    #[command(subcommand)]
    Client(client::Command),
    /// List a project's emails, and cancel those that have not been sent yet
    #[command(subcommand)]
    Email(email::Command),
    /// Sign in to a deployment through a browser, to administer it over its API
    Login(deployment::login::Login),
    /// End the session of `gateway login`
    Logout(deployment::login::Logout),
    /// Call an operation of the deployment that `gateway login` signed in to
    Call(deployment::call::Call),
    /// Publish the site's public content, or restore an earlier publication
    #[command(subcommand)]
    Content(content::Command),
    /// Read and verify the audit logs of projects
    #[command(subcommand)]
    Audit(audit::Command),
    /// Count the users and teams of projects
    #[command(subcommand)]
    Metrics(metrics::Command),
    /// Export the whole table to a folder
    Export(transfer::Export),
    /// Import a folder into the table
    Import(transfer::Import),
    /// Reseal all values sealed with the previous deployment secret (`GATELET_SECRET_PREVIOUS`)
    /// with the current one (`GATELET_SECRET`)
    Reseal,
    /// List the environment variables
    #[command(long_about = environment::text())]
    Environment,
    /// Check that a gateway responds; fails if it does not
    Health(health::Options),
    /// Check a deployment: table, backups, providers, secret, functions and emails; fails if
    /// anything is broken
    Doctor(doctor::Options),
}

impl Cli {
    pub async fn run(self) -> anyhow::Result<()> {
        environment::warn_of_unknown();
        match self.command {
            None => serve::run(&self.target, self.serve).await,
            Some(Command::Serve(options)) => serve::run(&self.target, options).await,
            Some(Command::Pages) => pages::run(self.target.folder()),
            Some(Command::Project(command)) => command.run(&self.target).await,
            Some(Command::User(command)) => command.run(&self.target).await,
            Some(Command::Team(command)) => command.run(&self.target).await,
            Some(Command::Key(command)) => command.run(&self.target).await,
            Some(Command::Client(command)) => command.run(&self.target).await,
            Some(Command::Email(command)) => command.run(&self.target).await,
            Some(Command::Login(command)) => command.run().await,
            Some(Command::Logout(command)) => command.run(&self.target).await,
            Some(Command::Call(command)) => command.run(&self.target).await,
            Some(Command::Content(command)) => command.run(&self.target).await,
            Some(Command::Audit(command)) => command.run(&self.target).await,
            Some(Command::Metrics(command)) => command.run(&Tools::open(&self.target).await?).await,
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
