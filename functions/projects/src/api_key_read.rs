//! `GET /api/v1/internal/api-keys/{id}`: returns the properties of a set of API keys, but not the
//! keys.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use model::project::key_set::KeySetRead;

use crate::api_keys::input::ApiKeyPath;

pub const ROUTE: Route = Route::get("projects-api-key-read", "/api/v1/internal/api-keys/{id}")
    .summary("Returns a set of API keys")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::KeySet])
    .errors(&[ErrorCode::ApiKeyNotFound]);

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<IgnoredBody, Nothing, ApiKeyPath>) -> Result<Json<KeySetRead>, Error> {
    let set = access.prefetched.key_set(&access.project.id, path.id).await?.ok_or(KnownError::ApiKeyNotFound)?;
    Ok(Json(KeySetRead::of(&set)))
}
