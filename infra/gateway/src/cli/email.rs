//! `gateway email …`: manages the outbox of a deployment's project.

use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};
use wire::id::EmailId;

use super::deployment::output::{self, text, time};
use super::deployment::{Administrator, CommonOptions, ItemChoice, ListOptions};
use super::input;
use super::tools::Target;

#[derive(Subcommand)]
pub(super) enum Command {
    /// List emails, newest first
    List {
        /// Only emails with this status, such as `scheduled`, `sent` or `bounced`
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        listed: ListOptions,
    },
    /// Show an email with its history; codes are masked
    Show(ItemChoice),
    /// Cancel an email that has not been sent yet
    Cancel {
        id: String,
        #[command(flatten)]
        common: CommonOptions,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::List { status, listed } => {
                let heads = ["ID", "CREATED", "STATUS", "TO", "SUBJECT"];
                let columns = |email: &Value| {
                    let subject = if email["subject"].is_null() { &email["subject_source"] } else { &email["subject"] };
                    let (id, created) = (text(&email["id"]), time(&email["created_at_millis"]));
                    [id, created, text(&email["status"]), recipients(&email["to"]), text(subject)]
                };
                listed.print(target, ("/emails/outbox", &[("status", status)]), heads, columns).await
            }
            Self::Show(ItemChoice { id, of }) => {
                let path = path(&id)?;
                output::json(&Administrator::required(target, of).await?.get(&path).await?)
            }
            Self::Cancel { id, common: CommonOptions { of, output } } => {
                let path = path(&id)?;
                let mut administrator = Administrator::required(target, of).await?;
                let email = administrator.ask(Method::PATCH, &path, Some(&json!({ "cancel": true }))).await?;
                output.done(&format!("cancelled email {id} of {}", administrator.place()), &email)
            }
        }
    }
}

fn path(id: &str) -> anyhow::Result<String> {
    let id = input::id(id, EmailId::parse, "an email", "email list")?;
    Ok(format!("/emails/outbox/{id}"))
}

/// The recipients of an email: its addresses, or its user.
fn recipients(to: &Value) -> String {
    match to["emails"].as_array() {
        Some(emails) => emails.iter().map(text).collect::<Vec<_>>().join(", "),
        None => format!("user {}", text(&to["user_id"])),
    }
}
