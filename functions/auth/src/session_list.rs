//! `GET /api/v1/auth/sessions`: lists the live sessions of a user page by page, newest first.
//! Sessions in which a server acts as the user are listed only with admin access.

use std::collections::HashSet;

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, NamedItem, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::App;
use flows::accounts::read;
use futures_util::try_join;
use model::openid::grant::is_granted;
use model::place::Place;
use model::session::Session;
use model::session::client::ClientSession;
use model::user::reference::UserRef;
use serde::Serialize;
use store::Key;
use store::openid::client_key;
use utoipa::ToSchema;
use wire::id::{OauthClientId, SessionId, UserId};
use wire::level::Level;

pub const ROUTE: Route = Route::get("auth-session-list", "/api/v1/auth/sessions")
    .summary("Lists the live sessions of a user")
    .table(&[BatchGetItem, Query])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserIdDoesNotExist, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ListQuery {
    /// A user's id, or `me`. Default: `me`. The parameter is required with server access.
    user_id: Option<UserRef>,
    /// 1 to 100. Default: 50. A page may contain fewer sessions than the limit.
    limit: Option<Limit<50, 100>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A session.
#[derive(Serialize, ToSchema)]
pub struct SessionView {
    id: SessionId,
    user_id: UserId,
    /// Milliseconds since the epoch.
    created_at: i64,
    is_impersonation: bool,
    /// Milliseconds since the epoch.
    last_used_at: i64,
    is_current_session: bool,
    /// The OAuth client to which the user signed in. Absent for the project's own apps.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<OauthClientId>,
    /// The name of the OAuth client. Absent for the project's own apps.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    /// The place where the session was last used. Absent if the place is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at_end_user_ip_info: Option<Place>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, .. }: Input<IgnoredBody, ListQuery>,
) -> Result<Json<Page<SessionView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let user_id = access.named_user(query.user_id, &ROUTE)?;
    let project = &access.project.id;
    let user = read(&access, user_id).await?.ok_or_else(|| KnownError::UserIdDoesNotExist { user_id: user_id.to_string() })?.user;
    let cursors = Cursors::of(&access, format_args!("sessions/{user_id}"));
    let start = cursors.position(query.cursor.as_deref())?;
    let (now, settings) = (app.clock.now(), &access.project.config.sessions);
    let shown = |session: &Session| session.is_live(&user, settings, now) && (access.level == Level::Admin || !session.is_impersonation);
    let mut page = app.store.sessions(project, user_id, start, limit, shown).await?;
    // A session of an OAuth client ends when the client or the grant is removed, which are separate
    // items.
    let of_clients: HashSet<Key> =
        page.sessions.iter().filter_map(|session| Some(client_key(project, session.client.as_ref()?.id))).collect();
    if !of_clients.is_empty() {
        let (grants, clients) = try_join!(app.store.oauth_grants(project, user_id), app.store.get_many(of_clients))?;
        let rests = |client: &ClientSession| {
            let grant = grants.iter().find(|grant| grant.client_id == client.id);
            clients.has(&client_key(project, client.id)) && is_granted(client.grant, grant)
        };
        page.sessions.retain(|session| session.client.as_deref().is_none_or(rests));
    }
    let current = access.user.as_ref().map(|own| own.session.id);
    let next_cursor = cursors.next(page.next.as_ref())?;
    Ok(Json(Page::new(page.sessions.into_iter().map(|session| view(session, current)).collect(), next_cursor)))
}

fn view(session: Session, current: Option<SessionId>) -> SessionView {
    SessionView {
        id: session.id,
        user_id: session.user_id,
        created_at: session.created_at.as_millisecond(),
        is_impersonation: session.is_impersonation,
        last_used_at: session.last_used_at.as_millisecond(),
        is_current_session: current == Some(session.id),
        client_id: session.client.as_ref().map(|client| client.id),
        client_name: session.client.map(|client| client.name),
        last_used_at_end_user_ip_info: session.place,
    }
}
