//! `PATCH /api/v1/internal/api-keys/{id}`: changes the description of a set of API keys, or revokes
//! the set. Revoked keys stop working immediately or, if the deployment sets
//! `GATELET_PROJECT_CACHE_SECONDS`, within that number of seconds.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::True;
use model::project::key_set::KeySetRead;
use utoipa::ToSchema;

use crate::api_keys::input::{ApiKeyPath, check_description};

pub const ROUTE: Route = Route::patch("projects-api-key-update", "/api/v1/internal/api-keys/{id}")
    .summary("Updates or revokes a set of API keys")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::KeySet])
    .errors(&[ErrorCode::ApiKeyNotFound]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UpdateApiKey {
    /// One line of at most 256 characters.
    description: Option<String>,
    /// Only `true` is accepted, because revoked sets cannot be restored.
    #[schema(value_type = Option<bool>)]
    revoked: Option<True>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<UpdateApiKey, Nothing, ApiKeyPath>,
) -> Result<Json<KeySetRead>, Error> {
    let project = &access.project.id;
    if let Some(description) = &body.description {
        check_description(description, &ROUTE)?;
    }
    let mut set = access.prefetched.key_set(project, path.id).await?.ok_or(KnownError::ApiKeyNotFound)?;
    let now = app.clock.now();
    if body.revoked.is_some() {
        app.store.revoke_key_set(project, &set, now).await?;
        set.revoked_at = set.revoked_at.or(Some(now));
    }
    if let Some(description) = body.description {
        app.store.describe_key_set(project, path.id, &description).await?;
        set.description = description;
    }
    Ok(Json(KeySetRead::of(&set)))
}
