//! `GET /api/v1/internal/email-themes/{id}`: returns an email theme with its source.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::{DocumentKind, MailDocument};
use serde::Serialize;
use store::document::DocumentRow;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::{DocumentPath, read};

pub const ROUTE: Route = Route::get("emails-theme-read", "/api/v1/internal/email-themes/{id}")
    .summary("Returns an email theme")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Document(DocumentKind::Theme)])
    .errors(&[ErrorCode::EmailThemeNotFound]);

#[derive(Serialize, ToSchema)]
pub struct ThemeView {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, in which `{{ content }}` is the body of the email.
    html_source: String,
    /// The same text as in `html_source`, for published SDKs.
    tsx_source: String,
}

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<VersionedResponse<Json<ThemeView>>, Error> {
    let DocumentRow { document: theme, version, .. } = read(&access, DocumentKind::Theme, path.id).await?;
    let MailDocument { id, display_name, html, .. } = theme;
    let response = Json(ThemeView { id, display_name, tsx_source: html.clone(), html_source: html });
    Ok(VersionedResponse { response, version })
}
