//! `POST /api/v1/user-api-keys/check`: checks an API key of a user and says whose it is. One round
//! trip, and at most once an hour a write that records the use of the key.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::{Access, Input, Server};
use errors::Error;
use model::limit::Limit;
use model::owned_key::OwnerKind;
use model::owned_key::view::OwnedKeyView;

use crate::owners::check::{CHECK_ERRORS, KeyBody, check};

pub const ROUTE: Route = Route::post("keys-user-key-check", "/api/v1/user-api-keys/check")
    .summary("Checks an API key of a user")
    .limit(Limit::ApiKey)
    .leaves_no_trail("it only records when the key was last used")
    .table(&[BatchGetItem, UpdateItem])
    .reads(&[Named::KeyOwner])
    .errors(CHECK_ERRORS);

pub async fn handle(access: Access<Server>, Input { body, .. }: Input<KeyBody>) -> Result<Json<OwnedKeyView>, Error> {
    check(&access, &body, OwnerKind::User).await.map(Json)
}
