//! `GET /api/v1/emails/outbox/{id}`: one entry of the outbox, with its `ETag`.

use api::http::TableAction::BatchGetItem;
use api::http::{Describe, Description, Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::App;
use http::{HeaderValue, header};
use model::outbox::OutboxEntry;
use model::outbox::view::OutboxView;
use utoipa::ToSchema;
use wire::id::{EmailId, ProjectId};

pub const ROUTE: Route = Route::get("emails-outbox-read", "/api/v1/emails/outbox/{id}")
    .summary("Reads an entry of the outbox")
    .table(&[BatchGetItem])
    .reads(&[Named::Mail])
    .errors(&["EMAIL_NOT_FOUND"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EntryPath {
    pub(crate) id: EmailId,
}

/// An entry with its validator, which an update may name in `If-Match`.
pub struct Entry {
    view: OutboxView,
    etag: String,
}

impl Entry {
    /// Shows an entry; one that ended lately with its bodies, for which the table is read again.
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

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, EntryPath>,
) -> Result<Entry, Error> {
    let project = &access.project.id;
    let row = access.prefetched.outbox_entry(project, path.id).await?.ok_or(KnownError::EmailNotFound)?;
    Entry::of(&app, project, row.entry, row.version).await
}
