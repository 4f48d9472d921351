//! `GET /api/v1/internal/email-templates`: lists the project's email templates and the default
//! templates that the project has not replaced.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::page::Pagination;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::{DocumentsQuery, list};

pub const ROUTE: Route = Route::get("emails-template-list", "/api/v1/internal/email-templates")
    .summary("Lists the email templates")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those of the wire")]
pub struct Templates {
    templates: Vec<TemplateLine>,
    is_paginated: bool,
    pagination: Pagination,
}

#[derive(Serialize, ToSchema)]
pub struct TemplateLine {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, for published SDKs.
    tsx_source: String,
    /// `false` if there is no theme. The field is absent for the project's theme, as published SDKs
    /// expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    theme_id: Option<Theme>,
}

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, DocumentsQuery>) -> Result<Json<Templates>, Error> {
    let line = |line: DocumentLine| TemplateLine {
        id: line.id,
        display_name: line.display_name,
        tsx_source: line.html.unwrap_or_default(),
        theme_id: line.theme,
    };
    let (templates, pagination) = list(&access, (DocumentKind::Template, &ROUTE), query, line).await?;
    Ok(Json(Templates { templates, is_paginated: true, pagination }))
}
