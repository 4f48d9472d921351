//! `gateway client …`: manages the OAuth clients of a deployment's project.

use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};
use wire::id::OauthClientId;

use super::confirm::deletion;
use super::deployment::output::{self, text, time};
use super::deployment::{Administrator, CommonOptions, ItemChoice, ListOptions, ProjectChoice};
use super::input;
use super::tools::Target;
use crate::say::say;

const CLIENTS: &str = "/internal/oauth-clients";
/// Fields whose elements may be separated by commas, because no element contains a comma.
const LISTS: [&str; 4] = ["redirect_uris", "post_logout_redirect_uris", "scopes", "allowed_team_ids"];

#[derive(Subcommand)]
pub(super) enum Command {
    /// List OAuth clients
    List(ListOptions),
    /// Show an OAuth client
    Show(ItemChoice),
    /// Create an OAuth client, and print its id and its secret, which is shown only once
    Create {
        /// Fields as in `POST /api/v1/internal/oauth-clients`: `name=Notes`,
        /// `client_type=confidential`, `redirect_uris=https://notes.example.com/callback`
        #[arg(required = true, value_name = "FIELD=VALUE")]
        fields: Vec<String>,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Change settings of an OAuth client, named as in `PATCH /api/v1/internal/oauth-clients/{id}`
    Set {
        id: String,
        /// `field=value`; a value that is not JSON is used as text
        #[arg(required = true, value_name = "FIELD=VALUE")]
        fields: Vec<String>,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Replace the secret of an OAuth client, and print the new one
    RotateSecret {
        id: String,
        /// The number of hours for which the old secret still works
        #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(0..=168))]
        hours: u32,
        #[command(flatten)]
        common: CommonOptions,
    },
    /// Permanently delete an OAuth client, and end its sessions
    Delete {
        id: String,
        #[command(flatten)]
        of: ProjectChoice,
        /// The id again, to skip the prompt
        #[arg(long, value_name = "ID")]
        confirm: Option<String>,
    },
}

impl Command {
    pub(super) async fn run(self, target: &Target) -> anyhow::Result<()> {
        match self {
            Self::List(listed) => {
                let heads = ["ID", "NAME", "TYPE", "FIRST PARTY", "RETURNS TO", "CREATED"];
                listed.print(target, (CLIENTS, &[]), heads, line).await
            }
            Self::Show(ItemChoice { id, of }) => {
                let path = path(&id)?;
                output::json(&Administrator::required(target, of).await?.get(&path).await?)
            }
            Self::Create { fields, common: CommonOptions { of, output } } => {
                let body = body(&fields)?;
                let created = Administrator::required(target, of).await?.ask(Method::POST, CLIENTS, Some(&body)).await?;
                if output.is_json() {
                    return output::json(&created);
                }
                say!("OAUTH_CLIENT_ID={}", text(&created["id"]));
                show_secret(&created);
                Ok(())
            }
            Self::Set { id, fields, common: CommonOptions { of, output } } => {
                let (path, body) = (path(&id)?, body(&fields)?);
                let mut administrator = Administrator::required(target, of).await?;
                let before = administrator.get(&path).await?;
                let mut after = administrator.ask(Method::PATCH, &path, Some(&body)).await?;
                if !output.is_json() {
                    // Every change updates this time, so it is left out of the differences.
                    after["updated_at_millis"] = before["updated_at_millis"].clone();
                }
                output.changed(&before, &after)
            }
            Self::RotateSecret { id, hours, common: CommonOptions { of, output } } => {
                let path = format!("{}/rotate-secret", path(&id)?);
                let body = json!({ "expire_previous_in_millis": u64::from(hours) * 3_600_000 });
                let rotated = Administrator::required(target, of).await?.ask(Method::POST, &path, Some(&body)).await?;
                if output.is_json() {
                    return output::json(&rotated);
                }
                show_secret(&rotated);
                Ok(())
            }
            Self::Delete { id, of, confirm } => delete(target, &id, of, confirm).await,
        }
    }
}

/// Prints the client's secret, if there is one: only confidential clients have a secret.
fn show_secret(answer: &Value) {
    if let Some(secret) = answer["client_secret"].as_str() {
        say!("OAUTH_CLIENT_SECRET={secret}");
    }
}

fn path(id: &str) -> anyhow::Result<String> {
    Ok(format!("{CLIENTS}/{}", input::id(id, OauthClientId::parse, "an OAuth client", "client list")?))
}

fn line(client: &Value) -> [String; 6] {
    let returns_to = client["redirect_uris"].as_array().map_or_else(String::new, |uris| {
        let more = uris.len().saturating_sub(1);
        let first = uris.first().map(text).unwrap_or_default();
        if more == 0 { first } else { format!("{first} and {more} more") }
    });
    let is_ours = if client["is_first_party"] == true { "yes" } else { "no" };
    [
        text(&client["id"]),
        text(&client["name"]),
        text(&client["client_type"]),
        is_ours.to_owned(),
        returns_to,
        time(&client["created_at_millis"]),
    ]
}

fn body(fields: &[String]) -> anyhow::Result<Value> {
    let mut body = input::patch(fields)?;
    for name in LISTS {
        if let Some(elements) = body[name].as_str() {
            let elements = elements.split(',').map(str::trim).filter(|element| !element.is_empty());
            body[name] = elements.collect::<Vec<_>>().into();
        }
    }
    Ok(body)
}

async fn delete(target: &Target, id: &str, of: ProjectChoice, confirm: Option<String>) -> anyhow::Result<()> {
    let path = path(id)?;
    let mut administrator = Administrator::required(target, of).await?;
    let client = administrator.get(&path).await?;
    let (id, name) = (text(&client["id"]), text(&client["name"]));
    deletion("OAuth client", &format!("the OAuth client {name:?} of {}", administrator.place()), &id, confirm)?;
    administrator.ask(Method::DELETE, &path, None).await?;
    say!("deleted OAuth client {id} of {}", administrator.place());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_commas_or_are_json() {
        let fields =
            ["name=Notes", "redirect_uris=https://a.example/cb, http://127.0.0.1/cb", "scopes=[\"openid\"]", "is_first_party=true"];
        let expected = json!({
            "name": "Notes",
            "redirect_uris": ["https://a.example/cb", "http://127.0.0.1/cb"],
            "scopes": ["openid"],
            "is_first_party": true,
        });
        assert_eq!(body(&fields.map(str::to_owned)).unwrap(), expected);
    }
}
