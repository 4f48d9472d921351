//! `GET /api/v1/internal/email-templates/{id}`: returns an email template with its sources.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;

use crate::documents::changes::{DocumentPath, DocumentView, read};

pub const ROUTE: Route = Route::get("emails-template-read", "/api/v1/internal/email-templates/{id}")
    .summary("Returns an email template")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Document(DocumentKind::Template)])
    .errors(&[ErrorCode::EmailTemplateNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<VersionedResponse<Json<DocumentView>>, Error> {
    let row = read(&access, DocumentKind::Template, path.id).await?;
    Ok(VersionedResponse { response: Json(row.document.into()), version: row.version })
}
