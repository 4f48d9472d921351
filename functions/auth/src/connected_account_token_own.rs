//! `POST /api/v1/auth/oauth/connected-accounts/{provider_id}/access-token`: returns a provider
//! access token for the signed-in user's first connected account at the provider. Only the oldest
//! SDKs use this operation. Newer SDKs use
//! `/api/v1/connected-accounts/{user_id}/{provider_id}/access-token`.

use api::http::{CreatedJson, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::Error;
use http::HeaderMap;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::oauth::connected_accounts::{ProviderAccessToken, RequestedAccount, TokenQuery, TokenScope, access_token, returns_token};

pub const ROUTE: Route =
    returns_token(Route::post("auth-connected-account-token-own", "/api/v1/auth/oauth/connected-accounts/{provider_id}/access-token"))
        .summary("Returns a provider access token for the signed-in user's account at the provider");

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct OwnProvider {
    provider_id: String,
}

pub async fn handle(
    access: Access<Client>,
    headers: HeaderMap,
    Input { body, query, path }: Input<TokenScope, TokenQuery, OwnProvider>,
) -> Result<CreatedJson<ProviderAccessToken>, Error> {
    let wanted = RequestedAccount {
        user: UserRef::Me,
        provider_id: &path.provider_id,
        account_id: None,
        scope: body.scope.as_deref(),
        has_failed: query.has_failed(),
    };
    access_token(&access, &headers, wanted).await.map(CreatedJson)
}
