//! `POST /api/v1/internal/oauth-providers`: adds an OAuth provider to the project, or changes the
//! provider with this id. The project's other providers and their secrets stay unchanged.
//!
//! An OpenID issuer is tested before it is saved. The response contains the redirect URI to
//! register at the provider.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, providers};
use model::project::provider_input::{ProviderInput, set_provider};
use model::project::view::AdminProvider;
use serde::Serialize;
use store::Contention as _;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::providers::change;

pub const ROUTE: Route = Route::post("projects-internal-provider-set", "/api/v1/internal/oauth-providers")
    .summary("Adds or changes an OAuth provider of the project")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::InvalidSharedOauthProviderId, ErrorCode::OauthProviderMisconfigured]);

#[derive(Serialize, ToSchema)]
pub struct SavedProvider {
    #[serde(flatten)]
    provider: AdminProvider,
    /// The redirect URI (callback URL) to register at the provider.
    #[schema(example = "https://auth.example.com/api/v1/auth/oauth/callback/github")]
    redirect_uri: String,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<ProviderInput>,
) -> Result<Json<SavedProvider>, Error> {
    if body.is_unshareable() {
        return Err(KnownError::InvalidSharedOauthProviderId { provider_id: body.id }.into());
    }
    let id = body.id.clone();
    let project = change(access.into_context(), &id, |project| {
        let owner = project.id.to_string();
        let set = set_provider(body.clone(), &mut project.config, &owner, &app.deployment());
        set.map_err(|error| ROUTE.schema_error(&Problems::one(&format!("body.{}", error.path), error.message)).into())
    })
    .await?;
    let provider = project.config.oauth_provider(&id).map(AdminProvider::of).ok_or_else(Error::conflict)?;
    Ok(Json(SavedProvider { redirect_uri: providers::redirect_uri(&app.settings, &id), provider }))
}
