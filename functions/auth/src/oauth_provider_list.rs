//! `GET /api/v1/oauth-providers`: lists a user's accounts at OAuth providers in the order in which
//! they were linked. If the request does not name a user, a server gets the accounts of all users,
//! page by page, in the order in which the users signed up.
//!
//! Accounts are stored in the items of their users and have no index, so the operation reads the
//! list of users. A page may contain few accounts or none, and still have a `next_cursor`.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, NamedItem, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, List, Page};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use flows::accounts::read;
use model::provider::account::ProviderAccountRead;
use model::user::User;
use model::user::reference::UserRef;
use store::Listing;
use utoipa::ToSchema;
use wire::level::Level;

pub const ROUTE: Route = Route::get("auth-oauth-provider-list", "/api/v1/oauth-providers")
    .summary("Lists the OAuth provider accounts of a user or, for servers, of all users")
    .table(&[BatchGetItem, Query])
    .reads(&[NamedItem::User])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProviderAccountsQuery {
    /// A user's id, or `me`. Only servers can omit this parameter.
    user_id: Option<UserRef>,
    /// The number of users that a page covers, from 1 to 100. Used only without `user_id`. The
    /// default is 100.
    limit: Option<Limit<100, 100>>,
    /// The `next_cursor` of the previous page. Used only without `user_id`.
    cursor: Option<String>,
}

pub async fn handle(
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, ProviderAccountsQuery>,
) -> Result<Json<List<ProviderAccountRead>>, Error> {
    if query.user_id.is_none() && access.level >= Level::Server {
        return all(&access, query).await.map(|page| Json(page.into()));
    }
    let user_id = access.listed_user(query.user_id, &ROUTE)?;
    let user = read(&access, user_id).await?.map(|row| row.user);
    Ok(Json(List::whole(user.iter().flat_map(|user| accounts(user, access.level)).collect())))
}

fn accounts(user: &User, level: Level) -> impl Iterator<Item = ProviderAccountRead> {
    user.provider_accounts.iter().map(move |account| ProviderAccountRead::of(user.id, account, level))
}

async fn all(access: &Access<Client>, query: ProviderAccountsQuery) -> Result<Page<ProviderAccountRead>, Error> {
    // The limit counts users, each of whom has up to twenty accounts.
    let limit = page::limit(query.limit, &ROUTE)?;
    let cursors = Cursors::of(access, "oauth-providers".to_owned());
    let after: Option<String> = cursors.position(query.cursor.as_deref())?;
    let mut listing = Listing { after: after.as_deref(), descending: false, limit, read: limit + 1 };
    loop {
        let users = access.app.store.users(&access.project.id, listing, |user| !user.provider_accounts.is_empty()).await?;
        let shown: Vec<Vec<ProviderAccountRead>> = users.rows.iter().map(|row| accounts(&row.user, access.level).collect()).collect();
        let count = page::fitting(&shown);
        if count == shown.len() {
            return Ok(Page::new(shown.into_iter().flatten().collect(), cursors.next(users.next.as_ref())?));
        }
        // Accounts are larger in the response than in the table, so a page may have room for fewer
        // users than were read. Only the users that fit are then read again, which yields the
        // cursor of the next page.
        listing.limit = count;
    }
}
