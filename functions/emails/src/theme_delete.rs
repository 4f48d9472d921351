//! `DELETE /api/v1/internal/email-themes/{id}`: deletes an email theme. Deleting the project's
//! version of a default theme restores the default.
//!
//! The theme that the project has selected is not deleted, unless it is a version of a default
//! theme. If another request selects the theme at the same time, the theme may still be deleted.
//! The project's emails then use the default theme.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use model::document::{DocumentKind, builtin};

use crate::documents::changes::{CHANGED, ChangeAnswer, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-theme-delete", "/api/v1/internal/email-themes/{id}")
    .summary("Deletes an email theme")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailThemeNotFound, ErrorCode::EmailThemeSelected]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<Json<ChangeAnswer>, Error> {
    let is_selected = path.id.uuid() == access.project.config.email.theme();
    if is_selected && builtin::document(DocumentKind::Theme, path.id).is_none() {
        return Err(KnownError::EmailThemeSelected.into());
    }
    delete(&access, DocumentKind::Theme, path.id).await?;
    Ok(Json(CHANGED))
}
