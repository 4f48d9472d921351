//! `PATCH /api/v1/internal/email-themes/{id}`: updates an email theme. Updating a default theme
//! creates the project's own version of it.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, ThemePatch};

use crate::documents::changes::{Changed, Changing, DocumentPath, update};

pub const ROUTE: Route = Route::patch("emails-theme-update", "/api/v1/internal/email-themes/{id}")
    .summary("Updates an email theme")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::Document(DocumentKind::Theme)])
    .errors(&[ErrorCode::EmailThemeNotFound]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<ThemePatch, Nothing, DocumentPath>,
) -> Result<Json<Changed>, Error> {
    let now = app.clock.now();
    let changing = Changing { kind: DocumentKind::Theme, id: path.id, if_match };
    update(&access, changing, &ROUTE, |theme| body.clone().apply(theme, now)).await
}
