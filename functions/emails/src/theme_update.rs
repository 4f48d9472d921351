//! `PATCH /api/v1/internal/email-themes/{id}`: changes a theme of mails. One of ours becomes the project's own by it.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, ThemePatch};

use crate::documents::changes::{Changed, DocumentPath, update};

pub const ROUTE: Route = Route::patch("emails-theme-update", "/api/v1/internal/email-themes/{id}")
    .summary("Changes a theme of mails")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Theme)])
    .errors(&[ErrorCode::EmailThemeNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<ThemePatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    let now = app.clock.now();
    update(&app, &access, DocumentKind::Theme, path.id, &ROUTE, |theme| body.clone().apply(theme, now)).await
}
