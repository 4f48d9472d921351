//! Access to a project of a deployment, administered by a user whose team owns the project.

use anyhow::{Context as _, bail};
use clap::Args;
use model::email::any::AnyEmail;
use model::text::line::plain;
use reqwest::Method;
use serde_json::Value;
use url::form_urlencoded::Serializer;
use wire::id::{ProjectId, UserId};

use super::super::input::project_id;
use super::super::tools::Target;
use super::output::{Output, text};
use super::session::{ApiRequest, Session};

/// The maximum number of items that a list request returns.
const PAGE: usize = 100;
/// The maximum number of users named in a message.
const NAMED: usize = 5;

/// Selects a project of the deployment.
#[derive(Args)]
pub(crate) struct ProjectChoice {
    /// The project. Default: the only project that your teams own
    #[arg(long, value_name = "ID")]
    pub(crate) project: Option<String>,
}

/// Selects an item of a project by id.
#[derive(Args)]
pub(crate) struct ItemChoice {
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) of: ProjectChoice,
}

/// Options of a command that prints something: the project and the format.
#[derive(Args)]
pub(crate) struct CommonOptions {
    #[command(flatten)]
    pub(crate) of: ProjectChoice,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Options of a command that prints a list: how many items, and in which format.
#[derive(Args)]
pub(crate) struct ListOptions {
    #[command(flatten)]
    pub(crate) of: ProjectChoice,
    /// Maximum number of items to print
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

impl ListOptions {
    /// Prints the first items of the list at `path`, with the given columns. Skips query parameters
    /// without a value.
    pub(crate) async fn print<const N: usize>(
        self,
        target: &Target,
        (path, query): (&str, &[(&str, Option<String>)]),
        heads: [&str; N],
        columns: impl Fn(&Value) -> [String; N],
    ) -> anyhow::Result<()> {
        let query: Vec<(&str, String)> = query.iter().filter_map(|(name, value)| Some((*name, value.clone()?))).collect();
        let items = Administrator::required(target, self.of).await?.list(path, &query, self.limit).await?;
        self.output.list(heads, items, columns)
    }
}

pub(crate) struct Administrator {
    session: Session,
    pub(crate) project: ProjectId,
}

impl Administrator {
    /// Finds the project for a command that works only over the API.
    pub(crate) async fn required(target: &Target, of: ProjectChoice) -> anyhow::Result<Self> {
        Self::new(Session::required(target).await?, of.project.as_deref()).await
    }

    pub(crate) async fn new(mut session: Session, project: Option<&str>) -> anyhow::Result<Self> {
        let project = match (project.map(project_id).transpose()?, session.only_project()) {
            (Some(id), _) => id,
            (None, Some(only)) => only.clone(),
            (None, None) => only_project(&mut session).await?,
        };
        session.reaches(&project)?;
        Ok(Self { session, project })
    }

    /// The project and its deployment's URL, for messages.
    pub(crate) fn place(&self) -> String {
        format!("project {} at {}", self.project, self.session.url())
    }

    pub(crate) async fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        self.ask(Method::GET, path, None).await
    }

    pub(crate) async fn ask(&mut self, method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Value> {
        self.session.json(ApiRequest { method, path, body, project: Some(&self.project) }).await
    }

    /// A page of a list, and the cursor of the next page, if there is one.
    pub(crate) async fn page(
        &mut self,
        path: &str,
        query: &[(&str, String)],
        limit: usize,
        cursor: Option<&str>,
    ) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let mut parameters = Serializer::new(String::new());
        parameters.extend_pairs(query).append_pair("limit", &limit.min(PAGE).to_string());
        if let Some(cursor) = cursor {
            parameters.append_pair("cursor", cursor);
        }
        let mut page = self.get(&format!("{path}?{}", parameters.finish())).await?;
        let Value::Array(items) = page["items"].take() else { bail!("the response from {path} is not a list") };
        let next = page["pagination"]["next_cursor"].as_str().map(str::to_owned);
        Ok((items, next))
    }

    /// Returns the first items of a list. If the list has more, says so on standard error.
    pub(crate) async fn list(&mut self, path: &str, query: &[(&str, String)], limit: usize) -> anyhow::Result<Vec<Value>> {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let (items, next) = self.page(path, query, limit - found.len(), cursor.as_deref()).await?;
            found.extend(items);
            match next {
                Some(_) if found.len() >= limit => eprintln!("there are more items: try --limit {}", limit.saturating_mul(2)),
                Some(_) => {
                    cursor = next;
                    continue;
                }
                None => {}
            }
            return Ok(found);
        }
    }

    /// Finds the user with the given id or verified primary email address. Anyone can enter or sign
    /// up with someone else's address, so an unverified address identifies nobody. Anonymous users
    /// are found only by id.
    pub(crate) async fn user(&mut self, text: &str) -> anyhow::Result<Value> {
        if let Ok(id) = UserId::parse(text) {
            return self.get(&format!("/users/{id}")).await;
        }
        let Ok(AnyEmail(email)) = AnyEmail::parse(text) else { bail!("{text:?} is neither a user id nor an email address") };
        let query = [("starts_with", email.to_string()), ("include_restricted", "true".to_owned())];
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let (users, next) = self.page("/users", &query, PAGE, cursor.as_deref()).await?;
            found.extend(users.into_iter().filter(|user| user["primary_email"] == email.as_str()));
            match next {
                Some(_) => cursor = next,
                None => break,
            }
        }
        let (mut verified, unverified): (Vec<Value>, Vec<Value>) =
            found.into_iter().partition(|user| user["primary_email_verified"] == true);
        match (&mut verified[..], &unverified[..]) {
            ([user], _) => Ok(user.take()),
            ([], []) => bail!("no user of {} has the verified primary address {text:?}", self.place()),
            ([], strangers) => bail!(
                "no user of {} has the verified primary address {text:?}; these users have not verified it, so it may not be theirs: {}; \
                 pass the id of the user you mean",
                self.place(),
                ids(strangers)
            ),
            (several, _) => {
                bail!("several users of {} have the verified address {text:?}: pass one of their ids: {}", self.place(), ids(several))
            }
        }
    }
}

/// The ids of the first few users, and the number of users left out.
fn ids(users: &[Value]) -> String {
    let named: Vec<String> = users.iter().take(NAMED).map(|user| plain(&text(&user["id"]))).collect();
    let more = users.len() - named.len();
    let named = named.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// The only project owned by the user's teams; fails if they own none or several.
async fn only_project(session: &mut Session) -> anyhow::Result<ProjectId> {
    let projects = session.own(Method::GET, "/internal/projects", None).await?;
    match projects["items"].as_array().map_or(&[][..], Vec::as_slice) {
        [project] => project_id(project["id"].as_str().context("the project has no id")?),
        [] => bail!("your teams own no projects at {}: run `gateway project create NAME` to create one", session.url()),
        more => bail!("your teams own {} projects: name one with --project ID (run `gateway project list` to see them)", more.len()),
    }
}
