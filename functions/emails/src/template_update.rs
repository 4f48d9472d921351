//! `PATCH /api/v1/internal/email-templates/{id}`: changes a template of mails. One of ours becomes the project's own by it.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Named, Route};
use shared::model::mail_document::{DocumentKind, DocumentPatch};
use shared::product_api::error::Error;
use shared::product_api::input::Nothing;
use shared::product_api::{Access, Admin, Input};

use crate::documents::{Changed, DocumentPath, patch};

pub const ROUTE: Route = Route::patch("emails-template-update", "/api/v1/internal/email-templates/{id}")
    .summary("Changes a template of mails")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Template)])
    .errors(&["EMAIL_TEMPLATE_NOT_FOUND"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    patch(&app, &access, DocumentKind::Template, path.id, &body, &ROUTE).await
}
