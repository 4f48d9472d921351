//! `GET /api/v1/internal/email-drafts`: lists the project's email drafts.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::page::Pagination;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use jiff::Timestamp;
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::{DocumentsQuery, list};

pub const ROUTE: Route = Route::get("emails-draft-list", "/api/v1/internal/email-drafts")
    .summary("Lists the email drafts")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those of the wire")]
pub struct Drafts {
    drafts: Vec<DraftLine>,
    is_paginated: bool,
    pagination: Pagination,
}

#[derive(Serialize, ToSchema)]
pub struct DraftLine {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, for published SDKs.
    tsx_source: String,
    /// `false` if there is no theme. The field is absent for the project's theme, as published SDKs
    /// expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    theme_id: Option<Theme>,
    /// When the draft was sent, in milliseconds since the epoch. `null` if it has not been sent.
    sent_at_millis: Option<i64>,
}

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, DocumentsQuery>) -> Result<Json<Drafts>, Error> {
    let line = |line: DocumentLine| DraftLine {
        id: line.id,
        display_name: line.display_name,
        tsx_source: line.html.unwrap_or_default(),
        theme_id: line.theme,
        sent_at_millis: line.sent_at.map(Timestamp::as_millisecond),
    };
    let (drafts, pagination) = list(&access, (DocumentKind::Draft, &ROUTE), query, line).await?;
    Ok(Json(Drafts { drafts, is_paginated: true, pagination }))
}
