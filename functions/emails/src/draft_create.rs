//! `POST /api/v1/internal/email-drafts`: creates a draft of a mail. With its name alone it has sources to go on from.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::document::{DocumentKind, NewDocument};

use crate::documents::changes::{CreatedDocument, create_from};

pub const ROUTE: Route = Route::post("emails-draft-create", "/api/v1/internal/email-drafts")
    .summary("Creates a draft of a mail")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::TooManyEmailDocuments]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewDocument>,
) -> Result<Json<CreatedDocument>, Error> {
    create_from(&app, &access, DocumentKind::Draft, body, &ROUTE).await
}
