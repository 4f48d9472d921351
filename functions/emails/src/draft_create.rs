//! `POST /api/v1/internal/email-drafts`: creates an email draft. If the request contains only a
//! name, the draft gets sample sources.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::document::{DocumentKind, NewDocument};

use crate::documents::changes::{CreatedDocument, create_from};

pub const ROUTE: Route = Route::post("emails-draft-create", "/api/v1/internal/email-drafts")
    .summary("Creates an email draft")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::TooManyEmailDocuments]);

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<NewDocument>) -> Result<Json<CreatedDocument>, Error> {
    create_from(&access, DocumentKind::Draft, body, &ROUTE).await
}
