//! `/outbox/{project}/{id}`: a single email, which can be paused, changed or cancelled until it is
//! sent.
//!
//! Changes go through the API's operation for updating entries. If the operation rejects a form,
//! the page shows the reason and keeps the input.

use std::collections::BTreeMap;

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

/// The fields of all forms on the page. Each form sends only the fields that it contains.
#[derive(Clone, Serialize, Deserialize, Default)]
#[serde(default)]
pub(super) struct EntryForm {
    action: String,
    at: String,
    etag: String,
    subject_source: String,
    html_source: String,
    text_source: String,
    variables: String,
}

/// The places where a problem of a form can be shown: above the form, and at its fields.
const PLACES: [&str; 6] = [WHOLE, "at", "subject_source", "html_source", "text_source", "variables"];
const WHOLE: &str = "whole";

/// The problems of a form, by their places in [`PLACES`].
#[derive(Debug)]
struct Problems(BTreeMap<&'static str, String>);

/// The input of a rejected form, and the problems with it.
struct FormRefusal {
    problems: Problems,
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
    /// An entry and its current view; `None` if the entry does not exist.
    async fn view(&self, at: &EntryPath) -> anyhow::Result<Option<(OutboxRow, OutboxView)>> {
        let (Ok(project), Ok(id)) = (ProjectId::parse(&at.project), EmailId::parse(&at.id)) else { return Ok(None) };
        let (store, now) = (&self.app.store, self.app.clock.now());
        let Some(row) = store.outbox_entry(&project, id).await? else { return Ok(None) };
        let entries = store.with_bodies(&project, vec![row.entry.clone()], now).await?;
        let view = entries.first().map(|entry| OutboxView::of(entry, now));
        Ok(view.map(|view| (row, view)))
    }

    /// Performs the action of a form, or returns the problems that prevent it.
    async fn change(&self, at: &EntryPath, sent: &EntryForm, from: &Extensions) -> Result<(), Problems> {
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
    fn whole(text: &str) -> Self {
        Self::in_field(WHOLE, text)
    }

    fn in_field(field: &'static str, text: &str) -> Self {
        Self(BTreeMap::from([(field, text.to_owned())]))
    }

    /// The problems that a `SCHEMA_ERROR` reports, at their fields. If the body lists no problems,
    /// the error concerns the whole form.
    fn from_schema_error(error: &Value) -> Self {
        let of_body = error["details"]["problems"].as_array().into_iter().flatten().filter_map(|problem| {
            let field = problem["path"].as_str()?.strip_prefix("body.")?.split(['.', '[']).next()?;
            let field = if field == "scheduled_at_millis" { "at" } else { field };
            let place = PLACES.into_iter().find(|place| *place == field).unwrap_or(WHOLE);
            Some((place, format!("This {}.", problem["problem"].as_str()?)))
        });
        let problems = Self(of_body.collect());
        if problems.0.is_empty() { Self::whole(error["error"].as_str().unwrap_or_default()) } else { problems }
    }
}

impl EntryForm {
    /// The body of the request that the form makes to the operation.
    fn patch(&self, now: Timestamp) -> Result<Value, Problems> {
        match self.action.as_str() {
            "pause" => Ok(json!({ "is_paused": true })),
            "resume" => Ok(json!({ "is_paused": false })),
            "cancel" => Ok(json!({ "cancel": true })),
            "send-now" => Ok(json!({ "scheduled_at_millis": now.as_millisecond() })),
            "schedule" => {
                let at: Timestamp = format!("{}Z", self.at).parse().map_err(|_| Problems::in_field("at", "Enter a date and a time."))?;
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

    /// The values that the page shows: the values of the entry or, after a rejected form, the
    /// values that were sent.
    fn of(view: &OutboxView, version: u64, refused: Option<&FormRefusal>) -> Self {
        let at = Timestamp::from_millisecond(view.scheduled_at_millis).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S").to_string();
        match refused.map(|refused| &refused.sent) {
            Some(sent) if sent.action == "edit" => Self { at, ..sent.clone() },
            sent => Self {
                action: String::new(),
                at: sent.filter(|sent| sent.action == "schedule").map_or(at, |sent| sent.at.clone()),
                etag: format!("\"{version}\""),
                subject_source: view.subject_source.clone(),
                html_source: view.html_source.clone(),
                text_source: view.text_source.clone().unwrap_or_default(),
                variables: serde_json::to_string_pretty(&view.variables).unwrap_or_default(),
            },
        }
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
        "problems": PLACES.map(|place| (place, refused.and_then(|refused| refused.problems.0.get(place)))).into_iter().collect::<BTreeMap<_, _>>(),
        "opened": refused.map(|refused| &refused.sent.action),
        "failure": failure(entry).map(|text| json!({ "title": failure_title(status), "text": text, "tone": tone(status) })),
        "no_preview": no_preview(status, view.has_rendered),
        "form": EntryForm::of(&view, version, refused),
        "preview": html_of(&view).map(|_| format!("{}/html?{}", at.path(), view.updated_at_millis)),
        "is_erased": entry.rendered.is_some() && entry.is_erased(pages.app.clock.now()),
        "moments": moments(&view),
        "attempts": view.send_attempt_errors,
        "source": source(&view),
    });
    let html = pages.frame.page("outbox_email", "/outbox", context);
    Ok(answer::page(if refused.is_some() { StatusCode::CONFLICT } else { StatusCode::OK }, html))
}

/// The email's HTML for the preview; `None` if the email has no HTML, has not been rendered yet, or
/// was erased.
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

/// The text in place of the preview; `None` if rendering failed, because the page then shows the
/// error.
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

/// The times of the entry, such as its creation, with their names, earliest first.
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
        assert_eq!(problems.0.get("variables").map(String::as_str), Some("This must be an object."));
        assert_eq!(problems.0.get("at").map(String::as_str), Some("This must be a number."));
        assert_eq!(problems.0.len(), 2);
        assert_eq!(of(json!([{ "path": "query.x", "problem": "is not known" }])).0.get(WHOLE).map(String::as_str), Some("does not fit"));
    }
}
