//! The inbox's JSON interface for programs, at `/inbox/api/messages`.

use api::http::Json;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query as QueryOf, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Error, Inbox, KEPT, Message, Query};

/// The number of emails that are listed by default.
const LISTED: usize = 200;

/// The routes of the inbox. All routes require the page key, because emails contain sign-in links.
pub fn router(inbox: Inbox) -> Router {
    Router::new()
        .route("/inbox/api/messages", get(list).delete(clear))
        .route("/inbox/api/messages/{id}", get(read).patch(update).delete(delete))
        .route("/inbox/api/messages/{id}/raw", get(raw))
        .with_state(inbox)
}

#[derive(Deserialize)]
struct ListQuery {
    to: Option<String>,
    q: Option<String>,
    project: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
    /// If `false`, the text and the HTML of the emails are omitted.
    bodies: Option<bool>,
}

#[derive(Deserialize)]
struct Update {
    read: bool,
}

/// A header line of an email.
#[derive(Serialize)]
pub(crate) struct Header {
    name: String,
    value: String,
}

/// An email with its header lines.
#[derive(Serialize)]
struct MessageWithHeaders {
    #[serde(flatten)]
    message: Message,
    headers: Vec<Header>,
}

async fn list(State(inbox): State<Inbox>, query: Result<QueryOf<ListQuery>, QueryRejection>) -> Response {
    let QueryOf(query) = match query {
        Ok(query) => query,
        Err(rejection) => return problem(StatusCode::BAD_REQUEST, &rejection.body_text()),
    };
    let present = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let query = Query {
        to: present(query.to),
        q: present(query.q),
        project: present(query.project),
        before: present(query.before),
        limit: query.limit.unwrap_or(LISTED).min(KEPT),
        bodies: query.bodies.unwrap_or(true),
    };
    answer(move || {
        let mut found = json!(inbox.find(&query)?);
        for message in found["items"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut).filter(|_| !query.bodies) {
            message.remove("text");
            message.remove("html");
        }
        Ok(Json(found).into_response())
    })
    .await
}

async fn clear(State(inbox): State<Inbox>) -> Response {
    answer(move || inbox.clear().map(|()| StatusCode::NO_CONTENT.into_response())).await
}

async fn read(State(inbox): State<Inbox>, Path(id): Path<String>) -> Response {
    answer(move || {
        let (message, source) = (inbox.message(&id)?, inbox.source(&id)?);
        Ok(Json(MessageWithHeaders { message, headers: headers(&source) }).into_response())
    })
    .await
}

/// Returns the source of an email as plain text, so that browsers display it without executing any
/// part of it.
async fn raw(State(inbox): State<Inbox>, Path(id): Path<String>) -> Response {
    let safe = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    answer(move || inbox.source(&id).map(|source| (safe, source).into_response())).await
}

async fn update(State(inbox): State<Inbox>, Path(id): Path<String>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(Update { read }) => answer(move || inbox.mark(&id, read).map(|message| Json(message).into_response())).await,
        Err(_) => problem(StatusCode::BAD_REQUEST, r#"the body must be {"read": true} or {"read": false}"#),
    }
}

async fn delete(State(inbox): State<Inbox>, Path(id): Path<String>) -> Response {
    answer(move || inbox.delete(&id).map(|()| StatusCode::NO_CONTENT.into_response())).await
}

/// The headers of an email, in which folded lines are joined.
pub(crate) fn headers(source: &str) -> Vec<Header> {
    let head = source.split_once("\r\n\r\n").map_or(source, |(head, _)| head).replace("\r\n ", " ").replace("\r\n\t", " ");
    let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines.map(|(name, value)| Header { name: name.to_owned(), value: value.to_owned() }).collect()
}

async fn answer(work: impl FnOnce() -> Result<Response, Error> + Send + 'static) -> Response {
    let mut response = match tokio::task::spawn_blocking(work).await {
        Ok(Ok(response)) => response,
        Ok(Err(error @ Error::NotFound(_))) => problem(StatusCode::NOT_FOUND, &error.to_string()),
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(%error, "the inbox failed");
    problem(StatusCode::INTERNAL_SERVER_ERROR, "the inbox failed; see the gateway's log")
}

fn problem(status: StatusCode, message: &str) -> Response {
    (status, Json(json!({ "error": message }))).into_response()
}
