//! `GET /api/v1/internal/email-themes`: lists the project's email themes and the defaults that it
//! has not replaced, without their sources.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::document::{DocumentKind, DocumentLine};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::DocumentId;

use crate::documents::changes::list;

pub const ROUTE: Route =
    Route::get("emails-theme-list", "/api/v1/internal/email-themes").summary("Lists the email themes").table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct Themes {
    themes: Vec<ThemeLine>,
}

#[derive(Serialize, ToSchema)]
pub struct ThemeLine {
    id: DocumentId,
    display_name: String,
}

pub async fn handle(access: Access<Admin>, _: Input) -> Result<Json<Themes>, Error> {
    let line = |line: DocumentLine| ThemeLine { id: line.id, display_name: line.display_name };
    let lines = list(&access, DocumentKind::Theme).await?;
    Ok(Json(Themes { themes: lines.into_iter().map(line).collect() }))
}
