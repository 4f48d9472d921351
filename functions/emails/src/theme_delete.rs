//! `DELETE /api/v1/internal/email-themes/{id}`: deletes a theme of mails. In place of one that a project wrote over ours, ours is back.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::DocumentKind;

use crate::documents::changes::{Changed, DocumentPath, delete};

pub const ROUTE: Route = Route::delete("emails-theme-delete", "/api/v1/internal/email-themes/{id}")
    .summary("Deletes a theme of mails")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::EmailThemeNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    delete(&app, &access, DocumentKind::Theme, path.id).await
}
