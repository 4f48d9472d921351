//! `PATCH /api/v1/internal/email-templates/{id}`: changes a template of mails. One of ours becomes the project's own by it.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, DocumentPatch};

use crate::documents::changes::{Changed, DocumentPath, patch};

pub const ROUTE: Route = Route::patch("emails-template-update", "/api/v1/internal/email-templates/{id}")
    .summary("Changes a template of mails")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Template)])
    .errors(&[ErrorCode::EmailTemplateNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    patch(&app, &access, DocumentKind::Template, path.id, &body, &ROUTE).await
}
