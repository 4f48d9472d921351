//! `PATCH /api/v1/internal/email-themes/{id}`: updates an email theme. Updating a default theme
//! creates the project's version of the theme.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, ThemePatch};
use serde::Serialize;
use utoipa::ToSchema;

use crate::documents::changes::{ChangeTarget, DocumentPath, update};

pub const ROUTE: Route = Route::patch("emails-theme-update", "/api/v1/internal/email-themes/{id}")
    .summary("Updates an email theme")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Document(DocumentKind::Theme)])
    .errors(&[ErrorCode::EmailThemeNotFound]);

#[derive(Serialize, ToSchema)]
pub struct UpdatedTheme {
    /// The name of the theme after the change.
    display_name: String,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<ThemePatch, Nothing, DocumentPath>,
) -> Result<Json<UpdatedTheme>, Error> {
    let now = app.clock.now();
    let changing = ChangeTarget { kind: DocumentKind::Theme, id: path.id, if_match };
    let theme = update(&access, changing, &ROUTE, |theme| body.clone().apply(theme, now)).await?;
    Ok(Json(UpdatedTheme { display_name: theme.display_name }))
}
