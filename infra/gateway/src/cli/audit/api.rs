//! `gateway audit …` on a deployment.

use clap::Args;
use jiff::Timestamp;
use serde_json::Value;

use super::super::deployment::output::{Output, text};
use super::super::deployment::{Administrator, ProjectChoice, Session};
use super::super::tools::Target;
use crate::say::say;

const LOG: &str = "/internal/audit-log";
/// The number of entries that an export reads per request.
const AT_ONCE: usize = 100;

#[derive(Args)]
pub(crate) struct List {
    #[command(flatten)]
    of: ProjectChoice,
    /// Only entries about this user: an id or a verified primary email address
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only entries from this operation, such as `auth-password-sign-in`
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Only entries with this event, such as `sign-in`
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Only entries at or after this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    from: Option<Timestamp>,
    /// Only entries before this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Maximum number of entries to print
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    output: Output,
}

fn times(from: Option<Timestamp>, until: Option<Timestamp>) -> impl Iterator<Item = (&'static str, String)> {
    [("from", from), ("until", until)].into_iter().filter_map(|(name, time)| Some((name, time?.to_string())))
}

impl List {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        let mut administrator = Administrator::required(target, self.of).await?;
        let user = match &self.user {
            Some(user) => Some(text(&administrator.user(user).await?["id"])),
            None => None,
        };
        let texts = [("user_id", user), ("operation", self.operation), ("event", self.event)];
        let texts = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        let query: Vec<(&str, String)> = texts.chain(times(self.from, self.until)).collect();
        let entries = administrator.list(LOG, &query, self.limit).await?;
        self.output.list(["AT", "OPERATION", "EVENTS", "BY", "USER", "FROM"], entries, |entry| {
            let events = entry["events"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ");
            let (user, from) = (text(&entry["user_id"]), text(&entry["place"]["ip"]));
            [text(&entry["at"]), text(&entry["operation"]), events, actor(&entry["actor"]), user, from]
        })
    }
}

/// The actor that caused an entry: its kind and, if it has one, its id.
fn actor(actor: &Value) -> String {
    let id = ["user_id", "key_set_id"].iter().find_map(|name| actor[name].as_str());
    let kind = text(&actor["type"]);
    id.map_or_else(|| kind.clone(), |id| format!("{kind} {id}"))
}

/// Writes the entries to standard output, newest first, one JSON object per line.
pub(super) async fn export(
    session: Session,
    project: Option<&str>,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> anyhow::Result<()> {
    let mut administrator = Administrator::new(session, project).await?;
    let query: Vec<(&str, String)> = times(from, until).collect();
    let mut cursor = None::<String>;
    loop {
        let (entries, next) = administrator.page(LOG, &query, AT_ONCE, cursor.as_deref()).await?;
        for entry in entries {
            say!("{entry}");
        }
        if next.is_none() {
            return Ok(());
        }
        cursor = next;
    }
}
