//! `GET /api/v1/internal/email-templates/{id}`: returns an email template with its sources.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::precondition::Versioned;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;

use crate::documents::changes::{DocumentPath, DocumentView, read};

pub const ROUTE: Route = Route::get("emails-template-read", "/api/v1/internal/email-templates/{id}")
    .summary("Returns an email template")
    .table(&[BatchGetItem])
    .reads(&[Named::Document(DocumentKind::Template)])
    .errors(&[ErrorCode::EmailTemplateNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Versioned<Json<DocumentView>>, Error> {
    let row = read(&access, DocumentKind::Template, path.id).await?;
    Ok(Versioned { response: Json(row.document.into()), version: row.version })
}
