//! `gateway user …`: creates users in a data folder or table, or over the API, and manages users
//! over the API. Also creates the first user of `internal`, whose sign-up is closed.

mod api;

use anyhow::{anyhow, bail};
use clap::Subcommand;
use crypto::password::Password;
use flows::teams::welcome;
use model::email::Email;
use model::password;
use model::user::User;
use store::user::account::Outcome;
use wire::id::ProjectId;

use super::deployment::Session;
use super::input::{new_password, project_id};
use super::tools::{Target, Tools};
use crate::say::say;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a user who signs in with a password, even if sign-up is closed. Prints the password
    /// unless it is read from standard input
    Create {
        /// The user's address, which counts as verified
        email: String,
        /// The user's project. Default: `internal` or, over the API, the only project that your
        /// teams own
        #[arg(long, value_name = "ID")]
        project: Option<String>,
        /// Read the password from one line of standard input instead of generating and printing it
        #[arg(long)]
        password_stdin: bool,
    },
    /// List users of a deployment, oldest first
    List(api::List),
    /// Show a user of a deployment
    Show(api::UserChoice),
    /// Change a user of a deployment. The fields are those of `PATCH /api/v1/users/{user_id}` with
    /// server access: `display_name=Ada`, `restricted_by_admin=true`
    Set(api::Set),
    /// Permanently delete a user of a deployment
    Delete(api::Delete),
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::Create { email, project, password_stdin } => {
                let email = Email::parse(&email).map_err(|_| anyhow!("{email:?} is not an email address"))?;
                if let Some(session) = Session::chosen(target).await? {
                    return api::create(session, email, project.as_deref(), password_stdin).await;
                }
                let id = project_id(project.as_deref().unwrap_or("internal"))?;
                create(&Tools::open(target).await?, email, &id, password_stdin).await
            }
            Self::List(command) => command.run(target).await,
            Self::Show(command) => command.run(target).await,
            Self::Set(command) => command.run(target).await,
            Self::Delete(command) => command.run(target).await,
        }
    }
}

async fn create(tools: &Tools, email: Email, id: &ProjectId, from_stdin: bool) -> anyhow::Result<()> {
    let project = tools.store.project(id).await?.ok_or_else(|| anyhow!("project {id} does not exist"))?.project;
    if !project.config.credential_enabled {
        bail!(
            "sign-in with a password is disabled in project {id}: run `gateway project set {id} config.credential_enabled=true` to enable it"
        );
    }
    let text = new_password(&tools.entropy, from_stdin)?;
    let password = Password::from(text.clone());
    password::check(&password, project.password_rules(), [&email])?;
    let app = tools.app()?;
    let mut user = User::new(&app.entropy, app.clock.now());
    user.add_primary_email(&app.entropy, email.clone(), true);
    user.password = Some(app.hasher.hash(&app.entropy, password.secret()).await);
    let team = welcome(&app, &project, &mut user)?;
    let create = app.store.create_account(id, &user, team);
    match tools.recorded("gateway-user-create", &project, Vec::new(), create).await? {
        Outcome::Done => {}
        Outcome::EmailTaken(_) => bail!("a user of project {id} already signs in with {email}"),
        Outcome::AccountTaken(_) | Outcome::PasskeyTaken(_) | Outcome::Changed => {
            bail!("the project was changed in the meantime: try again")
        }
    }
    say!("created user {} ({email}) in project {id}", user.id);
    if !from_stdin {
        say!("password: {text}");
    }
    Ok(())
}
