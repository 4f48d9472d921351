//! `GET /api/v1/emails/outbox/{id}`: returns an email in the outbox, with its `ETag`.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::outbox::view::OutboxView;

use crate::outbox::entry::{EntryPath, view};

pub const ROUTE: Route = Route::get("emails-outbox-read", "/api/v1/emails/outbox/{id}")
    .summary("Returns an email in the outbox")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Mail])
    .errors(&[ErrorCode::EmailNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, Nothing, EntryPath>,
) -> Result<VersionedResponse<Json<OutboxView>>, Error> {
    let project = &access.project.id;
    let row = access.prefetched.outbox_entry(project, path.id).await?.ok_or(KnownError::EmailNotFound)?;
    view(&app, project, row.entry, row.version).await
}
