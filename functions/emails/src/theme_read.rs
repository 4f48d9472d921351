//! `GET /api/v1/internal/email-themes/{id}`: returns an email theme with its source.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::precondition::Versioned;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;
use serde::Serialize;
use store::document::DocumentRow;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::{DocumentPath, read};

pub const ROUTE: Route = Route::get("emails-theme-read", "/api/v1/internal/email-themes/{id}")
    .summary("Returns an email theme")
    .table(&[BatchGetItem])
    .reads(&[Named::Document(DocumentKind::Theme)])
    .errors(&[ErrorCode::EmailThemeNotFound]);

#[derive(Serialize, ToSchema)]
pub struct ThemeView {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, in which `{{ content }}` is the body of the email.
    html_source: String,
}

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Versioned<Json<ThemeView>>, Error> {
    let DocumentRow { document: theme, version, .. } = read(&access, DocumentKind::Theme, path.id).await?;
    let response = Json(ThemeView { id: theme.id, display_name: theme.display_name, html_source: theme.html });
    Ok(Versioned { response, version })
}
