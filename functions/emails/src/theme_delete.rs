//! `DELETE /api/v1/internal/email-themes/{id}`: deletes an email theme. Deleting the project's
//! version of a default theme restores the default.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;

use crate::documents::changes::{Changed, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-theme-delete", "/api/v1/internal/email-themes/{id}")
    .summary("Deletes an email theme")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailThemeNotFound]);

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<Ignored, Nothing, DocumentPath>) -> Result<Json<Changed>, Error> {
    delete(&access, DocumentKind::Theme, path.id).await
}
