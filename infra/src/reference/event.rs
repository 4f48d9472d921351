//! An event of `events/`, used as an example request.

use serde_json::Value;

use crate::embedded::EVENTS;

/// A request without credentials.
pub(super) struct Request {
    /// The path, including parameters and query.
    pub(super) path: String,
    pub(super) media_type: String,
    pub(super) body: Option<String>,
    pub(super) has_access_token: bool,
}

/// The example request of an operation: its event, if it has one.
pub(super) fn request(id: &str) -> Option<Request> {
    let (_, text) = EVENTS.iter().find(|(name, _)| *name == id)?;
    let event: Value = serde_json::from_str(text).ok()?;
    let query = event["rawQueryString"].as_str().filter(|query| !query.is_empty());
    let path = event["rawPath"].as_str()?;
    let headers = &event["headers"];
    Some(Request {
        path: query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")),
        media_type: headers["content-type"].as_str().unwrap_or("application/json").to_owned(),
        body: event["body"].as_str().map(str::to_owned),
        has_access_token: headers["x-service-access-token"].is_string(),
    })
}
