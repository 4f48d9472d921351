//! `POST /api/v1/connected-accounts/{user_id}/{provider_id}/access-token`: returns a provider
//! access token for the user's first connected account at the provider.

use api::http::{CreatedJson, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::Error;
use http::HeaderMap;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::oauth::connected_accounts::{ProviderAccessToken, RequestedAccount, TokenQuery, TokenScope, access_token, returns_token};

pub const ROUTE: Route =
    returns_token(Route::post("auth-connected-account-token", "/api/v1/connected-accounts/{user_id}/{provider_id}/access-token"))
        .summary("Returns a provider access token for a user's account at the provider")
        .reads(&[NamedItem::User]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderOfUser {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    provider_id: String,
}

pub async fn handle(
    access: Access<Client>,
    headers: HeaderMap,
    Input { body, query, path }: Input<TokenScope, TokenQuery, ProviderOfUser>,
) -> Result<CreatedJson<ProviderAccessToken>, Error> {
    let wanted = RequestedAccount {
        user: path.user_id,
        provider_id: &path.provider_id,
        account_id: None,
        scope: body.scope.as_deref(),
        has_failed: query.has_failed(),
    };
    access_token(&access, &headers, wanted).await.map(CreatedJson)
}
