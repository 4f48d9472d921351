//! `DELETE /api/v1/internal/email-drafts/{id}`: deletes a draft of a mail.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::mail_document::DocumentKind;
use shared::product_api::error::Error;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Admin, Input};

use crate::documents::{Changed, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-draft-delete", "/api/v1/internal/email-drafts/{id}")
    .summary("Deletes a draft of a mail")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&["EMAIL_DRAFT_NOT_FOUND"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    delete(&app, &access, DocumentKind::Draft, path.id).await
}
