//! `PATCH /api/v1/internal/email-drafts/{id}`: updates an email draft.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::theme::Theme;
use model::document::{DocumentKind, DocumentPatch};

use crate::documents::changes::{CHANGED, ChangeAnswer, ChangeTarget, DocumentPath, check_theme, update};

pub const ROUTE: Route = Route::patch("emails-draft-update", "/api/v1/internal/email-drafts/{id}")
    .summary("Updates an email draft")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::Document(DocumentKind::Draft)])
    .errors(&[ErrorCode::EmailDraftNotFound]);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<DocumentPatch, Nothing, DocumentPath>,
) -> Result<Json<ChangeAnswer>, Error> {
    check_theme(&access, body.theme().and_then(Theme::id), &ROUTE).await?;
    let (changing, now) = (ChangeTarget { kind: DocumentKind::Draft, id: path.id, if_match }, access.app.clock.now());
    update(&access, changing, &ROUTE, |draft| body.clone().apply(draft, now)).await?;
    Ok(Json(CHANGED))
}
