//! `/inbox`: the emails of all projects that were stored instead of sent, newest first.

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use http::StatusCode;
use infra::pages::Link;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use web_console::serve;

use super::answer;
use super::request::path_with;
use super::state::{Pages, Project};
use crate::inbox::{self, Error, Inbox, KEPT, Message, api};

/// The number of emails that are listed by default; “more” doubles this number.
const LISTED: usize = 100;

pub(super) fn router(pages: Pages) -> Router {
    Router::new()
        .route("/inbox", get(list).post(clear))
        .route("/inbox/{id}", get(show).post(act))
        .route("/inbox/{id}/html", get(html))
        .with_state(pages)
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Filter {
    q: String,
    to: String,
    project: String,
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct MessageForm {
    action: String,
}

#[derive(Deserialize)]
struct ClearForm {
    #[serde(default)]
    confirm: String,
}

#[derive(Deserialize)]
struct ViewQuery {
    view: Option<String>,
}

/// An email, with the name of its project.
#[derive(Serialize)]
struct MessageLine {
    #[serde(flatten)]
    message: Message,
    project: String,
}

impl MessageLine {
    fn of(message: Message, projects: &[Project]) -> Self {
        let name = |id: &String| projects.iter().find(|project| project.id.as_str() == id).map(|project| project.name.clone());
        let project = message.project_id.as_ref().and_then(name).unwrap_or_default();
        Self { message, project }
    }
}

/// Reads or changes the inbox on a blocking thread.
async fn with<T: Send + 'static>(pages: &Pages, work: impl FnOnce(&Inbox) -> Result<T, Error> + Send + 'static) -> Result<T, Response> {
    let inbox = pages.inbox.clone();
    match tokio::task::spawn_blocking(move || work(&inbox)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(Error::NotFound(_))) => Err(pages.gone("email", Link::new("Inbox", "/inbox"))),
        Ok(Err(error)) => Err(answer::failed(&error.into())),
        Err(error) => Err(answer::failed(&error.into())),
    }
}

async fn projects(pages: &Pages) -> Result<Vec<Project>, Response> {
    pages.projects().await.map_err(|error| answer::failed(&error.into()))
}

async fn list(State(pages): State<Pages>, Query(filter): Query<Filter>) -> Response {
    listed(&pages, filter, None).await.unwrap_or_else(|refused| refused)
}

/// The page with the list of emails and, if a form was rejected, its problem.
async fn listed(pages: &Pages, filter: Filter, problem: Option<&str>) -> Result<Response, Response> {
    let limit = filter.limit.unwrap_or(LISTED).clamp(1, KEPT);
    let present = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let query = inbox::Query {
        to: present(&filter.to),
        q: present(&filter.q),
        project: present(&filter.project),
        limit,
        ..inbox::Query::default()
    };
    let (found, all) = with(pages, move |inbox| Ok((inbox.find(&query)?, inbox.find(&inbox::Query::default())?))).await?;
    let projects = projects(pages).await?;
    let limit = (limit * 2).to_string();
    let parameters = [("q", &*filter.q), ("to", &*filter.to), ("project", &*filter.project), ("limit", &*limit)];
    let emails: Vec<MessageLine> = found.items.into_iter().map(|message| MessageLine::of(message, &projects)).collect();
    let html = pages.frame.page(
        "inbox",
        "/inbox",
        json!({
            "problem_of_clearing": problem,
            "q": filter.q,
            "to": filter.to,
            "project": filter.project,
            "projects": projects,
            "emails": emails,
            "total": found.total,
            "unread": found.unread,
            "all": all.total,
            "more": found.has_more.then(|| path_with("/inbox", &parameters)),
            "first": pages.first_email(),
        }),
    );
    Ok(answer::page(if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK }, html))
}

/// Deletes all emails if the form contains the word that confirms this.
async fn clear(State(pages): State<Pages>, Form(ClearForm { confirm }): Form<ClearForm>) -> Response {
    if confirm.trim() != "inbox" {
        let problem = Some("Nothing was deleted: type “inbox” to confirm.");
        return listed(&pages, Filter::default(), problem).await.unwrap_or_else(|refused| refused);
    }
    match with(&pages, Inbox::clear).await {
        Ok(()) => answer::see("/inbox"),
        Err(refused) => refused,
    }
}

async fn show(State(pages): State<Pages>, Path(id): Path<String>, Query(shown): Query<ViewQuery>) -> Response {
    email(&pages, id, shown.view.as_deref()).await.unwrap_or_else(|refused| refused)
}

async fn email(pages: &Pages, id: String, view: Option<&str>) -> Result<Response, Response> {
    let (message, source) = with(pages, move |inbox| Ok((inbox.message(&id)?, inbox.source(&id)?))).await?;
    let first = if message.html.is_empty() { "text" } else { "html" };
    let tabs = [("html", "HTML"), ("text", "Text"), ("headers", "Headers"), ("source", "Source")];
    let tabs: Vec<Value> = tabs.iter().map(|(view, label)| json!({ "view": view, "label": label })).collect();
    let recipients: Vec<Value> =
        message.to.iter().map(|address| json!({ "address": address, "href": path_with("/inbox", &[("to", address)]) })).collect();
    let outbox = message.project_id.as_ref().map(|project| format!("/outbox/{project}/{}", message.outbox_id));
    let context = json!({
        "view": view.filter(|view| ["html", "text", "headers", "source"].contains(view)).unwrap_or(first),
        "tabs": tabs,
        "recipients": recipients,
        "outbox": outbox,
        "links": links(&message.text),
        "headers": api::headers(&source),
        "source": source,
        "email": MessageLine::of(message, &projects(pages).await?),
    });
    Ok(pages.page("inbox_email", "/inbox", context))
}

/// The URLs in a text that a browser can open, each listed once.
fn links(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"'));
    for word in words.filter(|word| word.starts_with("https://") || word.starts_with("http://")) {
        let word = word.trim_end_matches(['.', ',', ')', ';']);
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

async fn html(State(pages): State<Pages>, Path(id): Path<String>) -> Response {
    match with(&pages, move |inbox| inbox.message(&id)).await {
        Ok(message) => serve::email(&message.html),
        Err(refused) => refused,
    }
}

async fn act(State(pages): State<Pages>, Path(id): Path<String>, Form(MessageForm { action }): Form<MessageForm>) -> Response {
    let back = format!("/inbox/{id}");
    let done = match action.as_str() {
        "delete" => with(&pages, move |inbox| inbox.delete(&id)).await.map(|()| "/inbox"),
        "read" | "unread" => with(&pages, move |inbox| inbox.mark(&id, action == "read")).await.map(|_| &*back),
        _ => return StatusCode::BAD_REQUEST.into_response(),
    };
    match done {
        Ok(path) => answer::see(path),
        Err(refused) => refused,
    }
}

impl Pages {
    /// A command that makes the gateway's first project send an email.
    pub(super) fn first_email(&self) -> String {
        let Some(private) = &self.private else { return String::new() };
        let url = &self.app.settings.api_url;
        format!(
            "curl {url}/api/v1/auth/otp/send-sign-in-code \\\n  \
             -H 'X-Service-Access-Type: client' \\\n  \
             -H 'X-Service-Project-Id: {}' \\\n  \
             -H 'X-Service-Publishable-Client-Key: {}' \\\n  \
             --json '{{\"email\": \"ada@example.com\", \"callback_url\": \"{url}/docs\"}}'",
            private.keys.project_id,
            private.keys.client.expose_secret(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::links;

    #[test]
    fn only_links_that_a_browser_opens_are_extracted() {
        let text = "Open https://app.test/x?code=1.\nOr <http://app.test/>, not javascript:alert(1), again https://app.test/x?code=1";
        assert_eq!(links(text), ["https://app.test/x?code=1", "http://app.test/"]);
    }
}
