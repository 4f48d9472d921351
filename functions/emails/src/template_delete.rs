//! `DELETE /api/v1/internal/email-templates/{id}`: deletes an email template. Deleting the
//! project's version of a default template restores the default.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::DocumentKind;
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::changes::{DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-template-delete", "/api/v1/internal/email-templates/{id}")
    .summary("Deletes an email template")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailTemplateNotFound]);

/// The response to the deletion of a template: `{}`.
#[derive(Serialize, ToSchema)]
pub struct DeletedTemplate {}

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<Json<DeletedTemplate>, Error> {
    delete(&access, DocumentKind::Template, path.id).await?;
    Ok(Json(DeletedTemplate {}))
}
