//! `GET /api/v1/internal/email-templates`: lists the project's email templates and the defaults
//! that it has not replaced.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::list;

pub const ROUTE: Route = Route::get("emails-template-list", "/api/v1/internal/email-templates")
    .summary("Lists the email templates")
    .table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct Templates {
    templates: Vec<TemplateLine>,
}

#[derive(Serialize, ToSchema)]
pub struct TemplateLine {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, for published SDKs. A list has at most 4 MB of
    /// sources: those after that are `null`.
    tsx_source: Option<String>,
    /// `false` for no theme; absent for the project's theme, as published SDKs declare it.
    #[serde(skip_serializing_if = "Option::is_none")]
    theme_id: Option<Theme>,
}

pub async fn handle(access: Access<Admin>, _: Input) -> Result<Json<Templates>, Error> {
    let line =
        |line: DocumentLine| TemplateLine { id: line.id, display_name: line.display_name, tsx_source: line.html, theme_id: line.theme };
    let lines = list(&access, DocumentKind::Template).await?;
    Ok(Json(Templates { templates: lines.into_iter().map(line).collect() }))
}
