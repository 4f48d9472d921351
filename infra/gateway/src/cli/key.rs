//! `gateway key …`: manages the API keys of a deployment's project.

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use model::project::KeyKind;
use reqwest::Method;
use serde_json::{Value, json};
use wire::clock::Clock;
use wire::id::KeySetId;

use super::deployment::output::{self, text, time};
use super::deployment::{Administrator, CommonOptions};
use super::input;
use super::tools::Target;
use crate::keys::Role;
use crate::say::say;

const KEYS: &str = "/internal/api-keys";
/// The fields of the response that contain the keys, in the order of [`KeyKind::ALL`].
const FIELDS: [&str; KeyKind::ALL.len()] = ["publishable_client_key", "secret_server_key", "super_secret_admin_key"];

#[derive(Subcommand)]
pub(super) enum Command {
    /// List sets of keys, with the last characters of each key
    List {
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Create a set of keys and print the keys, which are shown only once
    Create(Create),
    /// Revoke a set of keys; the keys stop working immediately
    Revoke {
        /// The id of the set
        id: String,
        #[command(flatten)]
        common: CommonOptions,
    },
}

#[derive(Args)]
pub(super) struct Create {
    /// What the keys are for
    description: String,
    /// A publishable client key
    #[arg(long)]
    client: bool,
    /// A server key without limits
    #[arg(long)]
    server: bool,
    /// An admin key
    #[arg(long)]
    admin: bool,
    /// A server key with only this permission, such as `users:read`; can be repeated
    #[arg(long, value_name = "AREA:ACCESS", conflicts_with_all = ["client", "admin"])]
    permission: Vec<String>,
    /// Days until the keys expire
    #[arg(long, value_name = "N", default_value_t = 365)]
    days: u32,
    #[command(flatten)]
    common: CommonOptions,
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::List { common: CommonOptions { of, output } } => {
                let mut sets = Administrator::required(target, of).await?.get(KEYS).await?;
                let Value::Array(sets) = sets["items"].take() else { anyhow::bail!("the response from {KEYS} is not a list") };
                let now = Clock::system().now();
                output.list(["ID", "DESCRIPTION", "KEYS", "PERMISSIONS", "EXPIRES", "STATE"], sets, |set| line(set, now))
            }
            Self::Create(create) => create.run(target).await,
            Self::Revoke { id, common: CommonOptions { of, output } } => {
                let id = input::id(&id, KeySetId::parse, "a set", "key list")?;
                let mut administrator = Administrator::required(target, of).await?;
                let set = administrator.ask(Method::PATCH, &format!("{KEYS}/{id}"), Some(&json!({ "revoked": true }))).await?;
                output.done(&format!("revoked keys {id} of {}", administrator.place()), &set)
            }
        }
    }
}

fn line(set: &Value, now: Timestamp) -> [String; 6] {
    let last = |(field, kind): (&str, KeyKind)| Some(format!("{}…{}", kind.prefix(), set[field]["last_four"].as_str()?));
    let keys: Vec<String> = FIELDS.into_iter().zip(KeyKind::ALL).filter_map(last).collect();
    // Keys that list no permissions can do everything that their kind allows.
    let permissions =
        set["permissions"].as_array().map_or_else(|| "all".to_owned(), |some| some.iter().map(text).collect::<Vec<_>>().join(", "));
    let is_expired = set["expires_at_millis"].as_i64().is_some_and(|at| at <= now.as_millisecond());
    let state = match (&set["manually_revoked_at_millis"], is_expired) {
        (Value::Null, false) => "valid",
        (Value::Null, true) => "expired",
        _ => "revoked",
    };
    [text(&set["id"]), text(&set["description"]), keys.join(" "), permissions, time(&set["expires_at_millis"]), state.to_owned()]
}

impl Create {
    async fn run(self, target: &Target) -> anyhow::Result<()> {
        let has_server = self.server || !self.permission.is_empty();
        ensure!(
            self.client || has_server || self.admin,
            "name the keys to create: --client, --server, --admin or --permission AREA:ACCESS"
        );
        ensure!(
            !self.server || self.permission.is_empty(),
            "--server and --permission cannot be combined: --server creates a key with all permissions, --permission a key with only some"
        );
        let life = SignedDuration::from_hours(24 * i64::from(self.days));
        let expires_at = Clock::system().now().checked_add(life).with_context(|| format!("--days {} is too large", self.days))?;
        let mut body = json!({
            "description": self.description,
            "expires_at_millis": expires_at.as_millisecond(),
            "has_publishable_client_key": self.client,
            "has_secret_server_key": has_server,
            "has_super_secret_admin_key": self.admin,
        });
        if !self.permission.is_empty() {
            body["permissions"] = json!(self.permission);
        }
        let mut administrator = Administrator::required(target, self.common.of).await?;
        let created = administrator.ask(Method::POST, KEYS, Some(&body)).await?;
        if self.common.output.is_json() {
            return output::json(&created);
        }
        say!("GATELET_PROJECT_ID={}", administrator.project);
        for (name, field) in Role::First.names().into_iter().zip(FIELDS) {
            if let Some(key) = created[field].as_str() {
                say!("{name}={key}");
            }
        }
        Ok(())
    }
}
