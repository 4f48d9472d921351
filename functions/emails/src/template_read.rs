//! `GET /api/v1/internal/email-templates/{id}`: a template of mails with its sources.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem};
use shared::http::{Json, Route};
use shared::model::mail_document::DocumentKind;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Admin, Error, Input};

use crate::documents::{DocumentPath, DocumentView, read};

pub const ROUTE: Route = Route::get("emails-template-read", "/api/v1/internal/email-templates/{id}")
    .summary("Reads a template of mails")
    .table(&[BatchGetItem, GetItem])
    .errors(&["EMAIL_TEMPLATE_NOT_FOUND"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<DocumentView>, Error> {
    Ok(Json(read(&app, &access, DocumentKind::Template, path.id).await?.into()))
}
