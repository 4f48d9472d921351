//! `POST /api/v1/internal/email-themes`: creates an email theme. If the request contains only a
//! name, the theme gets a sample source.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, NewTheme};
use wire::id::DocumentId;

use crate::documents::changes::{CreatedDocument, create};

pub const ROUTE: Route = Route::post("emails-theme-create", "/api/v1/internal/email-themes")
    .summary("Creates an email theme")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::TooManyEmailDocuments]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewTheme>,
) -> Result<Json<CreatedDocument>, Error> {
    let document = body.into_document(DocumentId::from(app.entropy.uuid()), app.clock.now());
    let document = document.map_err(|problems| ROUTE.schema_error(&problems))?;
    create(&access, DocumentKind::Theme, document).await
}
