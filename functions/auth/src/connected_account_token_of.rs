//! `POST /api/v1/connected-accounts/{user_id}/{provider_id}/{provider_account_id}/access-token`:
//! returns a provider access token for the named account.

use api::http::{CreatedJson, NamedItem, Route};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::Error;
use http::HeaderMap;
use model::user::reference::UserRef;
use utoipa::ToSchema;

use crate::oauth::connected_accounts::{ProviderAccessToken, RequestedAccount, TokenQuery, TokenScope, access_token, returns_token};

pub const ROUTE: Route = returns_token(Route::post(
    "auth-connected-account-token-of",
    "/api/v1/connected-accounts/{user_id}/{provider_id}/{provider_account_id}/access-token",
))
.summary("Returns a provider access token for one of a user's accounts at the provider")
.reads(&[NamedItem::User]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are those of the path")]
pub struct AccountOfUser {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    provider_id: String,
    /// The account's id at the provider.
    provider_account_id: String,
}

pub async fn handle(
    access: Access<Client>,
    headers: HeaderMap,
    Input { body, query, path }: Input<TokenScope, TokenQuery, AccountOfUser>,
) -> Result<CreatedJson<ProviderAccessToken>, Error> {
    let wanted = RequestedAccount {
        user: path.user_id,
        provider_id: &path.provider_id,
        account_id: Some(&path.provider_account_id),
        scope: body.scope.as_deref(),
        has_failed: query.has_failed(),
    };
    access_token(&access, &headers, wanted).await.map(CreatedJson)
}
