//! `gateway project provider …`: changes one OAuth provider of a project. The project's remaining
//! providers keep their secrets and settings.

use std::io::Read as _;

use anyhow::{Context as _, anyhow, bail};
use clap::Subcommand;
use flows::providers::test_changed;
use model::project::Project;
use model::project::provider_input::{ProviderInput, key, remove_provider, set_provider};
use model::setting::SettingRefusal;
use model::text::line::plain;
use model::trail;
use reqwest::Method;
use serde_json::{Map, Value, json};
use wire::problem::Problems;

use super::super::deployment::output::{Output, text};
use super::super::deployment::{Administrator, Session};
use super::super::tools::Tools;
use super::stored::{find, view};
use crate::say::say;

const PATH: &str = "/internal/oauth-providers";
/// The path of redirect URIs, which the provider's id follows.
const CALLBACK: &str = "/api/v1/auth/oauth/callback/";
/// In place of a secret, means that the secret is read from standard input.
const STANDARD_INPUT: &str = "-";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Add or change a provider, and print the redirect URI to register with it. An OpenID issuer
    /// is tested before it is added
    Set {
        /// The project
        id: String,
        /// `github` or another known provider, or a new name for an OpenID issuer
        provider: String,
        /// Fields as in `POST /api/v1/internal/oauth-providers`: `client_id=…`, `client_secret=…`
        /// (`-` reads it from standard input), `issuer=https://…`, `type=shared`
        #[arg(value_name = "FIELD=VALUE")]
        fields: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Remove a provider and its client secret; users keep their accounts
    Remove {
        /// The project
        id: String,
        /// The provider
        provider: String,
    },
}

impl Command {
    pub(super) async fn on_data(self, tools: &Tools) -> anyhow::Result<()> {
        match self {
            Self::Set { id, provider, fields, output } => {
                let fields = input(&provider, &fields)?;
                let (before, after) = set(tools, &id, &fields).await?;
                output.changed(&before, &after)?;
                let api_url = tools.api_url.as_deref().unwrap_or("<URL of the API>");
                show_redirect(&output, &format!("{api_url}{CALLBACK}{provider}"));
                Ok(())
            }
            Self::Remove { id, provider } => {
                let change = |project: &mut Project| {
                    let is_removed = remove_provider(&provider, &mut project.config).map_err(wrong)?;
                    if is_removed { Ok(()) } else { bail!("the project has no provider {provider:?}") }
                };
                write(tools, &id, (&provider, Vec::new()), change).await?;
                say!("removed {} from project {}", plain(&provider), plain(&id));
                Ok(())
            }
        }
    }

    pub(super) async fn over_the_api(self, session: Session) -> anyhow::Result<()> {
        match self {
            Self::Set { id, provider, fields, output } => {
                let mut administrator = Administrator::new(session, Some(&id)).await?;
                let answer = administrator.ask(Method::POST, PATH, Some(&input(&provider, &fields)?)).await?;
                output.done(&format!("saved {provider}"), &answer)?;
                show_redirect(&output, &text(&answer["redirect_uri"]));
                Ok(())
            }
            Self::Remove { id, provider } => {
                let mut administrator = Administrator::new(session, Some(&id)).await?;
                administrator.ask(Method::DELETE, &format!("{PATH}/{}", encoded(&provider)), None).await?;
                say!("removed {} {}", plain(&provider), administrator.place());
                Ok(())
            }
        }
    }
}

fn encoded(id: &str) -> String {
    url::form_urlencoded::byte_serialize(id.as_bytes()).collect()
}

fn show_redirect(output: &Output, redirect_uri: &str) {
    if !output.is_json() {
        say!("register this redirect URI with the provider: {}", plain(redirect_uri));
    }
}

/// The body of the request that adds or changes a provider. All fields are strings, even numeric
/// client ids; only the list of bundle ids is split at its commas.
fn input(provider: &str, fields: &[String]) -> anyhow::Result<Value> {
    let mut body = Map::from_iter([("id".to_owned(), json!(provider))]);
    for field in fields {
        let (name, value) = field.split_once('=').with_context(|| format!("{field:?} is not FIELD=VALUE"))?;
        let value = match (name, value) {
            ("apple_bundle_ids", ids) => ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect::<Vec<_>>().into(),
            ("client_secret", STANDARD_INPUT) => secret()?.into(),
            (_, value) => Value::from(value),
        };
        body.insert(name.to_owned(), value);
    }
    Ok(Value::Object(body))
}

fn secret() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the client secret from standard input")?;
    Ok(text.trim().to_owned())
}

/// The project before and after the change, as administrators see it.
async fn set(tools: &Tools, id: &str, fields: &Value) -> anyhow::Result<(Value, Value)> {
    let input = deserr::deserialize::<ProviderInput, _, Problems>(fields.clone()).map_err(|problems| anyhow!("{problems}"))?;
    let (provider, app) = (input.id.clone(), tools.app()?);
    let change = |project: &mut Project| {
        let owner = project.id.to_string();
        let set = set_provider(input.clone(), &mut project.config, &owner, &app.deployment());
        set.map_err(wrong)
    };
    write(tools, id, (&provider, trail::fields(fields)), change).await
}

fn wrong(SettingRefusal { path, message }: SettingRefusal) -> anyhow::Error {
    anyhow!("{path} {message}")
}

/// Changes one provider of a project.
async fn write(
    tools: &Tools,
    id: &str,
    (provider, fields): (&str, Vec<String>),
    change: impl FnOnce(&mut Project) -> anyhow::Result<()>,
) -> anyhow::Result<(Value, Value)> {
    let row = find(tools, id).await?;
    let mut project = row.project.clone();
    change(&mut project)?;
    test_changed(&tools.app()?, &project.id, &row.project.config, &project.config).await?;
    let levels = tools.store.levels(&row.project).await?.with_entry(&project, &key(provider));
    let update = tools.store.update_project(&project, row.version, Some(&levels));
    match tools.recorded("gateway-project-provider", &project, fields, update).await {
        Ok(()) => Ok((view(&row.project)?, view(&project)?)),
        Err(store::Error::Conflict(_)) => bail!("project {} was changed in the meantime: check its settings, and try again", project.id),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_texts_except_for_the_list_of_bundle_ids() {
        let fields = ["client_id=1234567", "client_secret=a=b", "apple_bundle_ids=com.example.ios, com.example.mac"].map(str::to_owned);
        let expected = json!({
            "id": "facebook", "client_id": "1234567", "client_secret": "a=b", "apple_bundle_ids": ["com.example.ios", "com.example.mac"],
        });
        assert_eq!(input("facebook", &fields).unwrap(), expected);
        assert!(input("facebook", &["nonsense".to_owned()]).is_err());
    }
}
