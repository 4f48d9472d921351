//! `POST /api/v1/internal/email-drafts`: creates a draft of a mail. With its name alone it has sources to go on from.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::id::DocumentId;
use shared::model::mail_document::{DocumentKind, NewDocument};
use shared::product_api::{Access, Admin, Error, Input};

use crate::documents::{CreatedDocument, check_theme, create};

pub const ROUTE: Route = Route::post("emails-draft-create", "/api/v1/internal/email-drafts")
    .summary("Creates a draft of a mail")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&["TOO_MANY_EMAIL_DOCUMENTS"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewDocument>,
) -> Result<Json<CreatedDocument>, Error> {
    check_theme(&app, &access, body.theme_id(), "POST", ROUTE.path).await?;
    let document = body.into_document(DocumentId::from(app.entropy.uuid()), app.clock.now());
    let document = document.map_err(|problems| problems.into_error("POST", ROUTE.path))?;
    create(&app, &access, DocumentKind::Draft, document).await
}
