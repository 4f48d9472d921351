//! `GET /api/v1/internal/email-drafts/{id}`: a draft of a mail with its sources.

use axum::extract::State;
use jiff::Timestamp;
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

pub const ROUTE: Route = Route::get("emails-draft-read", "/api/v1/internal/email-drafts/{id}")
    .summary("Reads a draft of a mail")
    .table(&[BatchGetItem, GetItem])
    .errors(&["EMAIL_DRAFT_NOT_FOUND"]);

#[derive(Serialize, ToSchema)]
pub struct DraftView {
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
    /// Milliseconds since the epoch; `null` when it was not sent yet.
    sent_at_millis: Option<i64>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<DraftView>, Error> {
    let draft = read(&app, &access, DocumentKind::Draft, path.id).await?;
    Ok(Json(DraftView {
        id: draft.id,
        display_name: draft.display_name,
        subject_source: draft.subject,
        html_source: draft.html,
        text_source: draft.text,
        theme_id: draft.theme,
        notification_category_name: draft.category,
        sent_at_millis: draft.sent_at.map(Timestamp::as_millisecond),
    }))
}
