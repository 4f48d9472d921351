//! `PATCH /api/v1/internal/email-drafts/{id}`: changes a draft of a mail.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use shared::http::{Json, Named, Route};
use shared::model::mail_document::{DocumentKind, DocumentPatch};
use shared::product_api::error::Error;
use shared::product_api::input::Nothing;
use shared::product_api::{Access, Admin, Input};

use crate::documents::{Changed, DocumentPath, patch};

pub const ROUTE: Route = Route::patch("emails-draft-update", "/api/v1/internal/email-drafts/{id}")
    .summary("Changes a draft of a mail")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Draft)])
    .errors(&["EMAIL_DRAFT_NOT_FOUND"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    patch(&app, &access, DocumentKind::Draft, path.id, &body, &ROUTE).await
}
