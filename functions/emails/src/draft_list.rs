//! `GET /api/v1/internal/email-drafts`: lists the project's email drafts.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use jiff::Timestamp;
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::list;

pub const ROUTE: Route =
    Route::get("emails-draft-list", "/api/v1/internal/email-drafts").summary("Lists the email drafts").table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct Drafts {
    drafts: Vec<DraftLine>,
}

#[derive(Serialize, ToSchema)]
pub struct DraftLine {
    id: DocumentId,
    display_name: String,
    /// A MiniJinja template of HTML or MJML, for published SDKs. A list has at most 4 MB of
    /// sources: those after that are `null`.
    tsx_source: Option<String>,
    /// `false` for no theme; absent for the project's theme, as published SDKs declare it.
    #[serde(skip_serializing_if = "Option::is_none")]
    theme_id: Option<Theme>,
    /// Milliseconds since the epoch; `null` if the draft has not been sent.
    sent_at_millis: Option<i64>,
}

pub async fn handle(access: Access<Admin>, _: Input) -> Result<Json<Drafts>, Error> {
    let line = |line: DocumentLine| DraftLine {
        id: line.id,
        display_name: line.display_name,
        tsx_source: line.html,
        theme_id: line.theme,
        sent_at_millis: line.sent_at.map(Timestamp::as_millisecond),
    };
    let lines = list(&access, DocumentKind::Draft).await?;
    Ok(Json(Drafts { drafts: lines.into_iter().map(line).collect() }))
}
