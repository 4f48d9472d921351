//! `GET /api/v1/users/{user_id}/grants`: lists the clients to which a user has given access. The
//! most recent consent is first. A user has few clients, and at most one grant for each, so the
//! list needs no pages.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing, UserPath};
use api::product::page::List;
use api::product::{Access, Client, Input};
use errors::{Error, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::openid::grant::{OauthGrant, OauthGrantView};
use wire::id::UserId;

pub const ROUTE: Route = Route::get("openid-grant-list", "/api/v1/users/{user_id}/grants")
    .summary("Lists a user's grants to OAuth clients")
    .table(&[BatchGetItem, Query])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, UserPath>,
) -> Result<Json<List<OauthGrantView>>, Error> {
    let user = access.user_id(path.user_id)?;
    let (row, mut grants) = futures_util::try_join!(read(&access, user), grants(&access, user))?;
    // Grants given by a previous owner of the account have no effect.
    grants.retain(|grant| row.as_ref().is_some_and(|row| grant.is_of(&row.user)));
    grants.sort_by_key(|grant| std::cmp::Reverse(grant.updated_at));
    Ok(Json(List::whole(grants.iter().map(|grant| OauthGrantView::of(grant, user)).collect())))
}

async fn grants(access: &Access<Client>, user: UserId) -> Result<Vec<OauthGrant>, Error> {
    Ok(access.app.store.oauth_grants(&access.project.id, user).await?)
}
