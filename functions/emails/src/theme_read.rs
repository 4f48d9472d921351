//! `GET /api/v1/internal/email-themes/{id}`: a theme of mails with its sources.

use serde::Serialize;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Named, Route};
use shared::model::id::DocumentId;
use shared::model::mail_document::DocumentKind;
use shared::product_api::error::Error;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Admin, Input};
use utoipa::ToSchema;

use crate::documents::{DocumentPath, read};

pub const ROUTE: Route = Route::get("emails-theme-read", "/api/v1/internal/email-themes/{id}")
    .summary("Reads a theme of mails")
    .table(&[BatchGetItem])
    .reads(&[Named::Document(DocumentKind::Theme)])
    .errors(&["EMAIL_THEME_NOT_FOUND"]);

#[derive(Serialize, ToSchema)]
pub struct ThemeView {
    id: DocumentId,
    display_name: String,
    /// MiniJinja in HTML or MJML; `{{ content }}` is the body of the mail.
    html_source: String,
}

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<Ignored, Nothing, DocumentPath>) -> Result<Json<ThemeView>, Error> {
    let theme = read(&access, DocumentKind::Theme, path.id).await?;
    Ok(Json(ThemeView { id: theme.id, display_name: theme.display_name, html_source: theme.html }))
}
