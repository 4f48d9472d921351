//! `PATCH /api/v1/internal/email-drafts/{id}`: updates an email draft.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::{DocumentKind, DocumentPatch};

use crate::documents::changes::{Changed, DocumentPath, patch};

pub const ROUTE: Route = Route::patch("emails-draft-update", "/api/v1/internal/email-drafts/{id}")
    .summary("Updates an email draft")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Draft)])
    .errors(&[ErrorCode::EmailDraftNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    patch(&access, DocumentKind::Draft, path.id, &body, &ROUTE).await
}
