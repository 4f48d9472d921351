//! `POST /api/v1/connected-accounts/{user_id}/{provider_id}/access-token`: an access token of the provider, for the first of the user's accounts there.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::connected_accounts::{ProviderAccessToken, access_token};

/// What both ways of naming an account may answer.
pub(crate) const ERRORS: &[&str] = &[
    "CANNOT_GET_OWN_USER_WITHOUT_USER",
    "FORBIDDEN",
    "USER_NOT_FOUND",
    "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED",
    "OAUTH_CONNECTION_NOT_CONNECTED_TO_USER",
    "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE",
    "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE",
    "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE",
];

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TokenScope {
    /// What the token must be good for, separated by spaces.
    #[deserr(default)]
    pub(crate) scope: Option<String>,
}

pub const ROUTE: Route = Route::post("auth-connected-account-token", "/api/v1/connected-accounts/{user_id}/{provider_id}/access-token")
    .summary("Gives an access token for a user's account at a provider")
    .leaves_no_trail("a provider's token that is renewed is the same in effect")
    .table(&[BatchGetItem, GetItem, PutItem])
    .reads(&[Named::User])
    .errors(ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderOfUser {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    provider_id: String,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, path, .. }: Input<TokenScope, Nothing, ProviderOfUser>,
) -> Result<Json<ProviderAccessToken>, Error> {
    access_token(&app, &access, path.user_id, &path.provider_id, None, body.scope.as_deref()).await.map(Json)
}
