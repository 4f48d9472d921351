//! The response with one entry of the outbox.

use api::http::{Describe, Description, Json};
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use http::{HeaderValue, header};
use model::outbox::OutboxEntry;
use model::outbox::view::OutboxView;
use utoipa::ToSchema;
use wire::id::{EmailId, ProjectId};

/// An entry with its validator, which an update may send in `If-Match`.
pub struct Entry {
    view: OutboxView,
    etag: String,
}

impl Entry {
    /// Shows an entry. If it ended recently, its bodies are stored separately and read from the
    /// table first.
    pub(crate) async fn of(app: &App, project: &ProjectId, entry: OutboxEntry, version: u64) -> Result<Self, Error> {
        let now = app.clock.now();
        let entries = app.store.with_bodies(project, vec![entry], now).await?;
        let view = entries.iter().map(|entry| OutboxView::of(entry, now)).next().ok_or(KnownError::EmailNotFound)?;
        Ok(Self { view, etag: etag(version) })
    }
}

/// The validator of a version.
pub(crate) fn etag(version: u64) -> String {
    format!("\"{version}\"")
}

impl IntoResponse for Entry {
    fn into_response(self) -> Response {
        let mut response = Json(self.view).into_response();
        if let Ok(value) = HeaderValue::from_str(&self.etag) {
            response.headers_mut().insert(header::ETAG, value);
        }
        response
    }
}

impl Describe for Entry {
    fn describe(description: &mut Description) {
        Json::<OutboxView>::describe(description);
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EntryPath {
    pub(crate) id: EmailId,
}
