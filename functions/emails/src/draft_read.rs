//! `GET /api/v1/internal/email-drafts/{id}`: returns an email draft with its sources.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use jiff::Timestamp;
use model::document::DocumentKind;
use serde::Serialize;
use store::document::DocumentRow;
use utoipa::ToSchema;

use crate::documents::changes::{DocumentPath, DocumentView, read};

pub const ROUTE: Route = Route::get("emails-draft-read", "/api/v1/internal/email-drafts/{id}")
    .summary("Returns an email draft")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::Document(DocumentKind::Draft)])
    .errors(&[ErrorCode::EmailDraftNotFound]);

#[derive(Serialize, ToSchema)]
pub struct DraftView {
    #[serde(flatten)]
    document: DocumentView,
    /// When the draft was sent, in milliseconds since the epoch. `null` if it has not been sent.
    sent_at_millis: Option<i64>,
}

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<VersionedResponse<Json<DraftView>>, Error> {
    let DocumentRow { document: draft, version, .. } = read(&access, DocumentKind::Draft, path.id).await?;
    let sent_at_millis = draft.sent_at.map(Timestamp::as_millisecond);
    Ok(VersionedResponse { response: Json(DraftView { document: draft.into(), sent_at_millis }), version })
}
