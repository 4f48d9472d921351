//! `POST /api/v1/internal/email-themes`: creates a theme of mails. With its name alone it has sources to go on from.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::id::DocumentId;
use shared::model::mail_document::{DocumentKind, NewTheme};
use shared::product_api::error::Error;
use shared::product_api::{Access, Admin, Input};

use crate::documents::{CreatedDocument, create};

pub const ROUTE: Route = Route::post("emails-theme-create", "/api/v1/internal/email-themes")
    .summary("Creates a theme of mails")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&["TOO_MANY_EMAIL_DOCUMENTS"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewTheme>,
) -> Result<Json<CreatedDocument>, Error> {
    let document = body.into_document(DocumentId::from(app.entropy.uuid()), app.clock.now());
    let document = document.map_err(|problems| ROUTE.schema_error(&problems))?;
    create(&app, &access, DocumentKind::Theme, document).await
}
