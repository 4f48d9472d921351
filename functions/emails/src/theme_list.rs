//! `GET /api/v1/internal/email-themes`: lists the project's email themes and the default themes
//! that the project has not replaced, without their sources.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::page::Pagination;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::{DocumentsQuery, list};

pub const ROUTE: Route = Route::get("emails-theme-list", "/api/v1/internal/email-themes")
    .summary("Lists the email themes")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those of the wire")]
pub struct Themes {
    themes: Vec<ThemeLine>,
    is_paginated: bool,
    pagination: Pagination,
}

#[derive(Serialize, ToSchema)]
pub struct ThemeLine {
    id: DocumentId,
    display_name: String,
}

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, DocumentsQuery>) -> Result<Json<Themes>, Error> {
    let line = |line: DocumentLine| ThemeLine { id: line.id, display_name: line.display_name };
    let (themes, pagination) = list(&access, (DocumentKind::Theme, &ROUTE), query, line).await?;
    Ok(Json(Themes { themes, is_paginated: true, pagination }))
}
