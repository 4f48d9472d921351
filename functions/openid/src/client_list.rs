//! `GET /api/v1/internal/oauth-clients`: lists the project's clients in the order of their ids.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use model::openid::client_view::ClientView;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("openid-client-list", "/api/v1/internal/oauth-clients")
    .summary("Lists the project's OAuth clients")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ClientsQuery {
    /// 1 to 100. Default: 50.
    limit: Option<Limit<50, 100>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, ClientsQuery>) -> Result<Json<Page<ClientView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (app, cursors) = (&access.app, Cursors::of(&access, "oauth-clients"));
    let after = cursors.position(query.cursor.as_deref())?;
    let (clients, has_more) = app.store.oauth_clients(&access.project.id, after, limit).await?;
    let last = clients.last().filter(|_| has_more).map(|client| client.id);
    let now = app.clock.now();
    let items = clients.iter().map(|client| ClientView::of(client, now)).collect();
    Ok(Json(Page::new(items, cursors.next(last.as_ref())?)))
}
