//! `gateway user …` on a deployment.

use anyhow::{Context as _, ensure};
use clap::Args;
use model::email::Email;
use reqwest::Method;
use serde_json::{Value, json};
use wire::entropy::Entropy;

use super::super::confirm::deletion;
use super::super::deployment::output::{self, Output, text, time};
use super::super::deployment::{Administrator, ListOptions, ProjectChoice, Session};
use super::super::input::{new_password, patch};
use super::super::tools::Target;
use crate::say::say;

/// Secret fields, which `set` rejects because other processes on the machine can read the command
/// line.
const SECRETS: [&str; 3] = ["password", "password_hash", "totp_secret_base64"];

#[derive(Args)]
pub(crate) struct List {
    /// Only the user with this id, or users with this text in their name or in one of their email
    /// addresses
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Only members of this team
    #[arg(long, value_name = "ID")]
    team: Option<String>,
    /// Include restricted and anonymous users
    #[arg(long)]
    all: bool,
    /// Newest first
    #[arg(long)]
    newest: bool,
    #[command(flatten)]
    listed: ListOptions,
}

#[derive(Args)]
pub(crate) struct UserChoice {
    /// The user's id or verified primary email address
    user: String,
    #[command(flatten)]
    of: ProjectChoice,
}

#[derive(Args)]
pub(crate) struct Set {
    #[command(flatten)]
    one: UserChoice,
    /// `path=value`; a value that is not JSON is used as text
    #[arg(required = true, value_name = "FIELD")]
    fields: Vec<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    one: UserChoice,
    /// The user's id, to skip the prompt
    #[arg(long, value_name = "ID")]
    confirm: Option<String>,
}

impl List {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let flag = |is_set: bool| is_set.then(|| "true".to_owned());
        let query = [("include_anonymous", flag(self.all)), ("desc", flag(self.newest)), ("query", self.query), ("team_id", self.team)];
        let heads = ["ID", "EMAIL", "NAME", "SIGNED UP", "STATE"];
        let columns = |user: &Value| {
            let email = text(&user["primary_email"]);
            let state = if user["is_anonymous"] == true {
                "anonymous"
            } else if user["is_restricted"] == true {
                "restricted"
            } else if !email.is_empty() && user["primary_email_verified"] == false {
                "unverified"
            } else {
                ""
            };
            [text(&user["id"]), email, text(&user["display_name"]), time(&user["signed_up_at_millis"]), state.to_owned()]
        };
        self.listed.print(target, ("/users", &query), heads, columns).await
    }
}

impl UserChoice {
    /// Finds the user; returns its path and its fields.
    async fn find(self, target: &Target) -> anyhow::Result<(Administrator, String, Value)> {
        let mut administrator = Administrator::required(target, self.of).await?;
        let user = administrator.user(&self.user).await?;
        let path = format!("/users/{}", user["id"].as_str().context("the user has no id")?);
        Ok((administrator, path, user))
    }

    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let (_, _, user) = self.find(target).await?;
        output::json(&user)
    }
}

impl Set {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let patch = patch(&self.fields)?;
        let secret = SECRETS.into_iter().find(|name| patch.get(name).is_some());
        let name = secret.unwrap_or_default();
        ensure!(
            secret.is_none(),
            "{name} is secret and does not belong on a command line: use `gateway call … --body -`, which reads the body from standard input"
        );
        let (mut administrator, path, user) = self.one.find(target).await?;
        self.output.changed(&user, &administrator.ask(Method::PATCH, &path, Some(&patch)).await?)
    }
}

impl Delete {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let (mut administrator, path, user) = self.one.find(target).await?;
        let (id, email) = (text(&user["id"]), text(&user["primary_email"]));
        deletion("user", &format!("the user {email:?} of {}", administrator.place()), &id, self.confirm)?;
        administrator.ask(Method::DELETE, &path, None).await?;
        say!("deleted user {id} of {}", administrator.place());
        Ok(())
    }
}

/// Creates a user with a password.
pub(super) async fn create(session: Session, email: Email, project: Option<&str>, from_stdin: bool) -> anyhow::Result<()> {
    let mut administrator = Administrator::new(session, project).await?;
    let password = new_password(&Entropy::system(), from_stdin)?;
    let body = json!({
        "primary_email": email.to_string(),
        "primary_email_verified": true,
        "primary_email_auth_enabled": true,
        "password": password,
    });
    let user = administrator.ask(Method::POST, "/users", Some(&body)).await?;
    say!("created user {} ({email}) in {}", text(&user["id"]), administrator.place());
    if !from_stdin {
        say!("password: {password}");
    }
    Ok(())
}
