//! `DELETE /api/v1/internal/email-drafts/{id}`: deletes an email draft.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;

use crate::documents::changes::{CHANGED, ChangeAnswer, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-draft-delete", "/api/v1/internal/email-drafts/{id}")
    .summary("Deletes an email draft")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailDraftNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<Json<ChangeAnswer>, Error> {
    delete(&access, DocumentKind::Draft, path.id).await?;
    Ok(Json(CHANGED))
}
