//! `POST /api/v1/internal/email-drafts`: creates a draft of a mail. With its name alone it has sources to go on from.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::mail_document::{DocumentKind, NewDocument};
use shared::product_api::error::Error;
use shared::product_api::{Access, Admin, Input};

use crate::documents::{CreatedDocument, create_from};

pub const ROUTE: Route = Route::post("emails-draft-create", "/api/v1/internal/email-drafts")
    .summary("Creates a draft of a mail")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&["TOO_MANY_EMAIL_DOCUMENTS"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewDocument>,
) -> Result<Json<CreatedDocument>, Error> {
    create_from(&app, &access, DocumentKind::Draft, body, &ROUTE).await
}
