//! `/outbox/{project}/{id}`: one email, which can be paused, changed or cancelled before it is
//! sent.
//!
//! Changes go through the API's operation for updating entries. If it rejects a form, the page
//! shows the reason and keeps the input.

use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{Extensions, StatusCode};
use infra::pages::Link;
use jiff::Timestamp;
use model::outbox::status::Status;
use model::outbox::view::OutboxView;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::outbox::OutboxRow;
use web_console::serve;
use wire::id::{EmailId, ProjectId};
use wire::level::Level;

use super::answer;
use super::call::Call;
use super::outbox_words::{Addresses, failure, subject, tone, words};
use super::state::Pages;

#[derive(Deserialize, Clone)]
pub(super) struct EntryPath {
    project: String,
    id: String,
}

/// The fields that a form of the page sends.
#[derive(Deserialize, Default)]
pub(super) struct EntryForm {
    action: String,
    #[serde(default)]
    at: String,
    #[serde(default)]
    etag: String,
    #[serde(default)]
    subject_source: String,
    #[serde(default)]
    html_source: String,
    #[serde(default)]
    text_source: String,
    #[serde(default)]
    variables: String,
}

/// The values of the form's fields.
#[derive(Serialize)]
struct Fields {
    at: String,
    etag: String,
    subject_source: String,
    html_source: String,
    text_source: String,
    variables: String,
}

/// A form's problems: one for the whole form and one for each field, if any.
#[derive(Serialize, Default)]
struct Problems {
    whole: Option<String>,
    at: Option<String>,
    subject_source: Option<String>,
    html_source: Option<String>,
    text_source: Option<String>,
    variables: Option<String>,
}

/// The input of a rejected form, and its problems.
struct FormRefusal {
    problems: Box<Problems>,
    sent: EntryForm,
}

pub(super) async fn show(State(pages): State<Pages>, Path(at): Path<EntryPath>) -> Response {
    page(&pages, &at, None).await
}

pub(super) async fn html(State(pages): State<Pages>, Path(at): Path<EntryPath>) -> Response {
    match pages.view(&at).await {
        Ok(Some((_, view))) => serve::email(html_of(&view).unwrap_or_default()),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(error) => answer::failed(&error),
    }
}

pub(super) async fn act(
    State(pages): State<Pages>,
    Path(at): Path<EntryPath>,
    extensions: Extensions,
    Form(sent): Form<EntryForm>,
) -> Response {
    match pages.change(&at, &sent, &extensions).await {
        Ok(()) => answer::see(&at.path()),
        Err(problems) => page(&pages, &at, Some(FormRefusal { problems, sent })).await,
    }
}

impl EntryPath {
    fn path(&self) -> String {
        format!("/outbox/{}/{}", self.project, self.id)
    }
}

impl Pages {
    /// An entry and its current view, if the entry exists.
    async fn view(&self, at: &EntryPath) -> anyhow::Result<Option<(OutboxRow, OutboxView)>> {
        let (Ok(project), Ok(id)) = (ProjectId::parse(&at.project), EmailId::parse(&at.id)) else { return Ok(None) };
        let (store, now) = (&self.app.store, self.app.clock.now());
        let Some(row) = store.outbox_entry(&project, id).await? else { return Ok(None) };
        let entries = store.with_bodies(&project, vec![row.entry.clone()], now).await?;
        let view = entries.first().map(|entry| OutboxView::of(entry, now));
        Ok(view.map(|view| (row, view)))
    }

    /// Performs a form's action, or returns the problems that prevent it.
    async fn change(&self, at: &EntryPath, sent: &EntryForm, from: &Extensions) -> Result<(), Box<Problems>> {
        let patch = sent.patch(self.app.clock.now())?;
        let call = Call::new("PATCH", &format!("/api/v1/emails/outbox/{}", at.id), Level::Server, &at.project).with_body(&patch);
        let call = if sent.etag.is_empty() { call } else { call.if_match(&sent.etag) };
        let (status, body) = call.answer(self, from).await;
        match body["code"].as_str() {
            _ if status.is_success() => Ok(()),
            Some("PRECONDITION_FAILED") => Err(Problems::whole(
                "The email has changed since you opened the form. Copy what you typed, reload the page, and try again.",
            )),
            Some("SCHEMA_ERROR") => Err(Problems::from_schema_error(&body)),
            _ => Err(Problems::whole(body["error"].as_str().unwrap_or("The change failed; see the gateway's log."))),
        }
    }
}

impl Problems {
    fn whole(text: &str) -> Box<Self> {
        Self::in_field("", text)
    }

    /// A problem of one field of the operation's body.
    fn in_field(field: &str, text: &str) -> Box<Self> {
        let mut problems = Box::<Self>::default();
        *problems.place(field) = Some(text.to_owned());
        problems
    }

    /// Where to store a problem of this body field: at the corresponding form field, or else in
    /// `whole`.
    fn place(&mut self, field: &str) -> &mut Option<String> {
        match field {
            "scheduled_at_millis" => &mut self.at,
            "subject_source" => &mut self.subject_source,
            "html_source" => &mut self.html_source,
            "text_source" => &mut self.text_source,
            "variables" => &mut self.variables,
            _ => &mut self.whole,
        }
    }

    /// A `SCHEMA_ERROR`'s problems at their fields. Without problems in the body, the error
    /// concerns the whole form.
    fn from_schema_error(error: &Value) -> Box<Self> {
        let mut problems = Box::<Self>::default();
        let mut is_of_body = false;
        for problem in error["details"]["problems"].as_array().into_iter().flatten() {
            let Some(path) = problem["path"].as_str().and_then(|path| path.strip_prefix("body.")) else { continue };
            let field = path.split(['.', '[']).next().unwrap_or_default();
            *problems.place(field) = problem["problem"].as_str().map(|problem| format!("This {problem}."));
            is_of_body = true;
        }
        if is_of_body { problems } else { Self::whole(error["error"].as_str().unwrap_or_default()) }
    }
}

impl EntryForm {
    /// The body of the operation's request for this form.
    fn patch(&self, now: Timestamp) -> Result<Value, Box<Problems>> {
        match self.action.as_str() {
            "pause" => Ok(json!({ "is_paused": true })),
            "resume" => Ok(json!({ "is_paused": false })),
            "cancel" => Ok(json!({ "cancel": true })),
            "send-now" => Ok(json!({ "scheduled_at_millis": now.as_millisecond() })),
            "schedule" => {
                let at: Timestamp =
                    format!("{}Z", self.at).parse().map_err(|_| Problems::in_field("scheduled_at_millis", "Write a date and a time."))?;
                Ok(json!({ "scheduled_at_millis": at.as_millisecond() }))
            }
            "edit" => {
                let variables = if self.variables.trim().is_empty() { "{}" } else { &self.variables };
                let unreadable = |error| Problems::in_field("variables", &format!("This is not a JSON object: {error}."));
                let variables: Value = serde_json::from_str(variables).map_err(unreadable)?;
                // Browsers send line breaks as CRLF.
                let lines = |text: &str| text.replace("\r\n", "\n");
                let text = Some(lines(&self.text_source)).filter(|text| !text.is_empty());
                let (subject, html) = (&self.subject_source, lines(&self.html_source));
                Ok(json!({ "subject_source": subject, "html_source": html, "text_source": text, "variables": variables }))
            }
            _ => Err(Problems::whole("This page does not support this action.")),
        }
    }
}

impl Fields {
    fn of(view: &OutboxView, version: u64, refused: Option<&FormRefusal>) -> Self {
        let at = Timestamp::from_millisecond(view.scheduled_at_millis).unwrap_or_default();
        let mut fields = Self {
            at: at.strftime("%Y-%m-%dT%H:%M:%S").to_string(),
            etag: format!("\"{version}\""),
            subject_source: view.subject_source.clone(),
            html_source: view.html_source.clone(),
            text_source: view.text_source.clone().unwrap_or_default(),
            variables: serde_json::to_string_pretty(&view.variables).unwrap_or_default(),
        };
        match refused.map(|refused| (&*refused.sent.action, &refused.sent)) {
            Some(("edit", sent)) => {
                fields.etag.clone_from(&sent.etag);
                fields.subject_source.clone_from(&sent.subject_source);
                fields.html_source.clone_from(&sent.html_source);
                fields.text_source.clone_from(&sent.text_source);
                fields.variables.clone_from(&sent.variables);
            }
            Some(("schedule", sent)) => fields.at.clone_from(&sent.at),
            _ => {}
        }
        fields
    }
}

async fn page(pages: &Pages, at: &EntryPath, refused: Option<FormRefusal>) -> Response {
    match shown(pages, at, refused.as_ref()).await {
        Ok(response) => response,
        Err(error) => answer::failed(&error),
    }
}

async fn shown(pages: &Pages, at: &EntryPath, refused: Option<&FormRefusal>) -> anyhow::Result<Response> {
    let Some((OutboxRow { project, entry, version }, view)) = pages.view(at).await? else {
        return Ok(pages.gone("email", Link::new("Outbox", "/outbox")));
    };
    let entry = &*entry.shown();
    let to = Addresses::default().text(pages, &project, &entry.to).await?;
    let name = pages.projects().await?.into_iter().find(|one| one.id == project).map_or_else(|| project.to_string(), |one| one.name);
    let status = entry.status();
    let context = json!({
        "id": entry.id,
        "project": name,
        "subject": subject(entry),
        "to": to,
        "status": words(status),
        "tone": tone(status),
        "is_editable": is_editable(status),
        "is_paused": entry.is_paused,
        "problems": refused.map_or(&Problems::default(), |refused| &*refused.problems),
        "opened": refused.map(|refused| &refused.sent.action),
        "failure": failure(entry).map(|text| json!({ "title": failure_title(status), "text": text, "tone": tone(status) })),
        "no_preview": no_preview(status, view.has_rendered),
        "form": Fields::of(&view, version, refused),
        "preview": html_of(&view).map(|_| format!("{}/html?{}", at.path(), view.updated_at_millis)),
        "is_erased": entry.rendered.is_some() && entry.is_erased(pages.app.clock.now()),
        "moments": moments(&view),
        "attempts": view.send_attempt_errors,
        "source": source(&view),
    });
    let html = pages.frame.page("outbox_email", "/outbox", context);
    Ok(answer::page(if refused.is_some() { StatusCode::CONFLICT } else { StatusCode::OK }, html))
}

/// The email's HTML for the preview; `None` if it has none, is not yet rendered, or was erased.
fn html_of(view: &OutboxView) -> Option<&str> {
    view.rendered.as_ref()?.html.as_deref()
}

fn is_editable(status: Status) -> bool {
    use Status::{Paused, Preparing, Queued, RenderError, Rendering, Scheduled, ServerError};
    matches!(status, Paused | Preparing | Rendering | RenderError | Scheduled | Queued | ServerError)
}

fn failure_title(status: Status) -> &'static str {
    match status {
        Status::RenderError => "The email could not be rendered",
        Status::Skipped => "The email was not sent",
        _ => "The email could not be sent",
    }
}

/// The text in place of the preview; `None` if rendering failed, as the page then shows the error.
fn no_preview(status: Status, is_rendered: bool) -> Option<String> {
    match status {
        _ if is_rendered => Some(
            "The stored copy of this email has expired. If the email is still waiting, it is rendered again when it is sent.".to_owned(),
        ),
        Status::RenderError => None,
        Status::Skipped => Some("The email was skipped before it was rendered, so there is nothing to show.".to_owned()),
        Status::ServerError => Some("Sending failed before the email was rendered; see the error above.".to_owned()),
        status => Some(format!("There is no preview while the email is {}.", words(status))),
    }
}

/// The entry's times, such as its creation, with their names, earliest first.
fn moments(view: &OutboxView) -> Vec<Value> {
    let fields = serde_json::to_value(view).unwrap_or_default();
    let times =
        fields.as_object().into_iter().flatten().filter_map(|(name, value)| Some((name.strip_suffix("_at_millis")?, value.as_i64()?)));
    let mut times: Vec<(&str, i64)> = times.collect();
    times.sort_by_key(|(name, at)| (*at, *name != "created"));
    times.into_iter().map(|(name, at)| json!({ "label": name.replace('_', " "), "at": at })).collect()
}

fn source(view: &OutboxView) -> String {
    let text = view.text_source.as_deref().map(|text| format!("\n\nText:\n{text}")).unwrap_or_default();
    let variables = serde_json::to_string_pretty(&view.variables).unwrap_or_default();
    format!("Subject: {}\n\n{}{text}\n\nVariables: {variables}", view.subject_source, view.html_source)
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::*;

    #[test]
    fn only_an_email_with_a_render_error_reports_it() {
        for status in Status::VARIANTS {
            let is_of_rendering = *status == Status::RenderError;
            assert_eq!(failure_title(*status).contains("rendered"), is_of_rendering, "{status:?}");
            let said = no_preview(*status, false);
            assert_eq!(said.is_none(), is_of_rendering, "{status:?}");
            assert!(!said.unwrap_or_default().contains("could not be rendered"), "{status:?}");
        }
    }

    #[test]
    fn a_problem_of_the_body_is_shown_at_its_field() {
        let of = |problems: Value| Problems::from_schema_error(&json!({ "error": "does not fit", "details": { "problems": problems } }));
        let problems = of(json!([
            { "path": "body.variables", "problem": "must be an object" },
            { "path": "body.scheduled_at_millis", "problem": "must be a number" },
        ]));
        assert_eq!(problems.variables.as_deref(), Some("This must be an object."));
        assert_eq!(problems.at.as_deref(), Some("This must be a number."));
        assert_eq!(problems.whole, None);
        assert_eq!(of(json!([{ "path": "query.x", "problem": "is not known" }])).whole.as_deref(), Some("does not fit"));
    }
}
