//! `PATCH /api/v1/internal/email-templates/{id}`: updates an email template. Updating a default
//! template creates the project's own version of it.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::{DocumentKind, DocumentPatch};

use crate::documents::changes::{Changed, Changing, DocumentPath, patch};

pub const ROUTE: Route = Route::patch("emails-template-update", "/api/v1/internal/email-templates/{id}")
    .summary("Updates an email template")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Template)])
    .errors(&[ErrorCode::EmailTemplateNotFound]);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    patch(&access, Changing { kind: DocumentKind::Template, id: path.id, if_match }, &body, &ROUTE).await
}
