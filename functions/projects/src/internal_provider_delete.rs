//! `DELETE /api/v1/internal/oauth-providers/{provider_id}`: removes an OAuth provider and its
//! secret from the project. Users keep their accounts at the provider, and can sign in with them
//! again once the provider has been added again.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::literal::{SUCCESS, Success};
use model::project::provider_input::remove_provider;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::providers::change;

pub const ROUTE: Route = Route::delete("projects-internal-provider-delete", "/api/v1/internal/oauth-providers/{provider_id}")
    .summary("Removes an OAuth provider from the project")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::OauthProviderNotFoundOrNotEnabled]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderPath {
    /// The id of one of the project's providers.
    provider_id: String,
}

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<IgnoredBody, Nothing, ProviderPath>) -> Result<Json<Success>, Error> {
    change(access.into_context(), &path.provider_id, |project| {
        let removed = remove_provider(&path.provider_id, &mut project.config);
        let is_removed = removed.map_err(|error| ROUTE.schema_error(&Problems::one(&format!("params.{}", error.path), error.message)))?;
        if is_removed { Ok(()) } else { Err(KnownError::OauthProviderNotFoundOrNotEnabled.into()) }
    })
    .await?;
    Ok(Json(SUCCESS))
}
