//! `GET /api/v1/internal/api-keys/{id}`: one set of API keys.

use deserr::Deserr;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Named, Route};
use shared::model::id::KeySetId;
use shared::model::key_set::KeySetRead;
use shared::product_api::error::{Error, KnownError};
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Admin, Input};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("projects-api-key-read", "/api/v1/internal/api-keys/{id}")
    .summary("Reads a set of API keys")
    .table(&[BatchGetItem])
    .reads(&[Named::KeySet])
    .errors(&["API_KEY_NOT_FOUND"]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ApiKeyPath {
    pub(crate) id: KeySetId,
}

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<Ignored, Nothing, ApiKeyPath>) -> Result<Json<KeySetRead>, Error> {
    let set = access.prefetched.key_set(&access.project.id, path.id).await?.ok_or(KnownError::ApiKeyNotFound)?;
    Ok(Json(KeySetRead::of(&set)))
}
