//! `gateway user …`: accounts that the operator makes, such as the first one of the project `internal`, where nobody signs up.

use anyhow::{Context as _, anyhow, bail};
use clap::Subcommand;
use crypto::password::Password;
use flows::teams::welcome;
use model::email::Email;
use model::password;
use model::user::User;
use secrecy::ExposeSecret as _;
use store::user::account::Outcome;
use wire::id::ProjectId;

use super::tools::Tools;
use crate::say::say;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Create a user who signs in with a password, whether sign-up is open or not. Prints the password unless it is read
    Create {
        /// The user's address, which counts as verified
        email: String,
        /// The project of the user
        #[arg(long, value_name = "ID", default_value = "internal")]
        project: String,
        /// Read the password from standard input, where it is one line; without this one is made and printed
        #[arg(long)]
        password_stdin: bool,
    },
}

impl Command {
    pub(super) async fn run(self, tools: &Tools) -> anyhow::Result<()> {
        let Self::Create { email, project, password_stdin } = self;
        let email = Email::parse(&email).map_err(|_| anyhow!("{email:?} is not an email address"))?;
        let id = ProjectId::parse(&project).with_context(|| format!("{project:?} is not the id of a project"))?;
        create(tools, email, &id, password_stdin).await
    }
}

async fn create(tools: &Tools, email: Email, id: &ProjectId, is_read: bool) -> anyhow::Result<()> {
    let project = tools.store.project(id).await?.ok_or_else(|| anyhow!("there is no project {id}"))?.project;
    if !project.config.credential_enabled {
        bail!("nobody signs in with a password at {id}: `project set {id} config.credential_enabled=true` allows it");
    }
    let text = if is_read { line()? } else { tools.entropy.code().expose_secret().to_owned() };
    let password = Password::from(text.clone());
    password::check(&password, &project, [&email])?;
    let app = tools.app()?;
    let mut user = User::new(&app.entropy, app.clock.now());
    user.add_primary_email(&app.entropy, email.clone(), true);
    user.password = Some(app.hasher.hash(&app.entropy, password.secret()).await);
    let gifts = welcome(&app, &project, &mut user)?;
    let create = app.store.create_account(id, &user, gifts);
    match tools.recorded("gateway-user-create", &project, Vec::new(), create).await? {
        Outcome::Done => {}
        Outcome::EmailTaken(_) => bail!("somebody signs in with {email} at {id} already"),
        Outcome::AccountTaken(_) | Outcome::Changed => bail!("the project changed at the same time: try again"),
    }
    say!("created {} ({email}) at {id}", user.id);
    if !is_read {
        say!("password: {text}");
    }
    Ok(())
}

/// The line of standard input.
fn line() -> anyhow::Result<String> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("the password cannot be read")?;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}
