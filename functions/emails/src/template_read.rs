//! `GET /api/v1/internal/email-templates/{id}`: a template of mails with its sources.

use axum::extract::State;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem};
use shared::http::{Json, Route};
use shared::model::id::DocumentId;
use shared::model::mail_document::DocumentKind;
use shared::model::outbox::Category;
use shared::model::theme::Theme;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Admin, Error, Input};
use utoipa::ToSchema;

use crate::documents::{DocumentPath, read};

pub const ROUTE: Route = Route::get("emails-template-read", "/api/v1/internal/email-templates/{id}")
    .summary("Reads a template of mails")
    .table(&[BatchGetItem, GetItem])
    .errors(&["EMAIL_TEMPLATE_NOT_FOUND"]);

#[derive(Serialize, ToSchema)]
pub struct TemplateView {
    id: DocumentId,
    display_name: String,
    /// MiniJinja.
    subject_source: String,
    /// MiniJinja in HTML or MJML.
    html_source: String,
    /// MiniJinja; `null` when the text is derived from the HTML.
    text_source: Option<String>,
    /// `false` for no theme, `null` for the project's.
    theme_id: Option<Theme>,
    notification_category_name: Category,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<TemplateView>, Error> {
    let template = read(&app, &access, DocumentKind::Template, path.id).await?;
    Ok(Json(TemplateView {
        id: template.id,
        display_name: template.display_name,
        subject_source: template.subject,
        html_source: template.html,
        text_source: template.text,
        theme_id: template.theme,
        notification_category_name: template.category,
    }))
}
