//! `DELETE /api/v1/internal/email-drafts/{id}`: deletes a draft of a mail.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::DocumentKind;

use crate::documents::changes::{Changed, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-draft-delete", "/api/v1/internal/email-drafts/{id}")
    .summary("Deletes a draft of a mail")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailDraftNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    delete(&app, &access, DocumentKind::Draft, path.id).await
}
