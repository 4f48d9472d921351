//! `GET /api/v1/internal/email-themes`: the themes of the project, with ours that it did not replace, without their sources.

use axum::extract::State;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, Query};
use shared::http::{Json, Route};
use shared::model::id::DocumentId;
use shared::model::mail_document::{DocumentKind, DocumentLine};
use shared::product_api::error::Error;
use shared::product_api::{Access, Admin, Input};
use utoipa::ToSchema;

use crate::documents::list;

pub const ROUTE: Route =
    Route::get("emails-theme-list", "/api/v1/internal/email-themes").summary("Lists the themes of mails").table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct Themes {
    themes: Vec<ThemeLine>,
}

#[derive(Serialize, ToSchema)]
pub struct ThemeLine {
    id: DocumentId,
    display_name: String,
}

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<Themes>, Error> {
    let line = |line: DocumentLine| ThemeLine { id: line.id, display_name: line.display_name };
    let lines = list(&app, &access, DocumentKind::Theme).await?;
    Ok(Json(Themes { themes: lines.into_iter().map(line).collect() }))
}
