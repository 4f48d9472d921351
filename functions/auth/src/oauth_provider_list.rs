//! `GET /api/v1/oauth-providers`: lists a user's accounts at OAuth providers in the order in which
//! they were linked.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Named, Route};
use api::product::input::Ignored;
use api::product::page::List;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::user::provider_account::ProviderAccountRead;
use model::user::reference::UserRef;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("auth-oauth-provider-list", "/api/v1/oauth-providers")
    .summary("Lists a user's accounts at OAuth providers")
    .table(&[BatchGetItem])
    .reads(&[Named::User])
    .errors(USER_REFERENCE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderAccountsQuery {
    /// A user's id, or `me`. Required: the accounts of all users cannot be listed.
    #[deserr(default)]
    #[schema(value_type = Option<String>)]
    user_id: Option<UserRef>,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<Ignored, ProviderAccountsQuery>,
) -> Result<Json<List<ProviderAccountRead>>, Error> {
    let user_id = access.listed_user(query.user_id, &ROUTE)?;
    let accounts = read(&access, user_id).await?.map(|row| row.user.provider_accounts).unwrap_or_default();
    let items = accounts.iter().map(|account| ProviderAccountRead::of(user_id, account, access.level)).collect();
    Ok(Json(List::whole(items)))
}
