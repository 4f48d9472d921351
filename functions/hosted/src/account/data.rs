//! The data of the user as a file, which contains the unchanged responses of API operations. If an
//! operation fails, no file is returned, because an incomplete file would look complete.
//!
//! Data from the user item was read at the start of the visit, and is written here as the API shows
//! it. Calling an operation for each part of this data would read the user item again each time,
//! and user items may be large.

use api::http::Route;
use auth_functions::{mfa_device_list, session_list};
use axum::handler::Handler;
use flows::App;
use keys_functions::user_key_list;
use model::passkey::view::PasskeyRead;
use model::provider::account::ProviderAccountRead;
use model::user::channel::ContactChannel;
use model::user::totp::AuthenticatorView;
use serde_json::{Map, Value as Json, json};
use teams_functions::{invitation_list, team_list};
use users_functions::{me_activity, me_read};
use wire::level::Level;

use crate::account::outcome::Outcome;
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;

/// The maximum number of pages to read from a list. The limit keeps the file within the response
/// size of a function.
const MAX_PAGES: usize = 20;

/// Teams have metadata, so only some teams are read. A request must not read more than 2 MB or
/// return more than 1 MB. The file says whether there are more teams.
const TEAMS: &str = "user_id=me&limit=25";

const NAME: &str = "account.json";

pub(super) async fn submit(visit: &Visit) -> Outcome {
    match Box::pin(collect(visit)).await {
        Ok(data) => Outcome::Answer(Answer::download(NAME, &data)),
        Err(reply) => Outcome::Refusal(*reply),
    }
}

async fn collect(visit: &Visit) -> Result<Json, Box<Reply>> {
    let profile = checked(visit.call(me_read::ROUTE, me_read::handle, Call::new()).await)?.body;
    let mut data = Map::new();
    data.insert("exported_at_millis".to_owned(), json!(visit.app.clock.now().as_millisecond()));
    data.insert("profile".to_owned(), profile);
    let of_me = "user_id=me";
    let mut put = |name: &str, list: Json| data.insert(name.to_owned(), list);
    if let Some(user) = visit.visitor.as_ref().map(|visitor| &visitor.user) {
        put("contact_channels", user.channels.iter().map(|channel| json!(ContactChannel::of(user.id, channel))).collect());
        put("passkeys", user.passkeys.iter().map(|passkey| json!(PasskeyRead::of(user.id, passkey))).collect());
        put("authenticators", user.apps().map(|app| json!(AuthenticatorView::from(app))).collect());
        let accounts = user.provider_accounts.iter();
        put("provider_accounts", accounts.map(|account| json!(ProviderAccountRead::of(user.id, account, Level::Client))).collect());
    }
    put("sessions", all(visit, session_list::ROUTE, session_list::handle, "user_id=me&limit=100").await?);
    put("remembered_devices", all(visit, mfa_device_list::ROUTE, mfa_device_list::handle, "").await?);
    put("teams", all(visit, team_list::ROUTE, team_list::handle, TEAMS).await?);
    put("team_invitations", all(visit, invitation_list::ROUTE, invitation_list::handle, of_me).await?);
    if visit.project.config.user_api_keys_enabled {
        put("api_keys", all(visit, user_key_list::ROUTE, user_key_list::handle, of_me).await?);
    }
    put("activity", all(visit, me_activity::ROUTE, me_activity::handle, "limit=100").await?);
    Ok(Json::Object(data))
}

/// Reads all items of a list, page by page. If the list continues after the last page that was
/// read, the result says so.
async fn all<H, T>(visit: &Visit, route: Route, handler: H, query: &str) -> Result<Json, Box<Reply>>
where
    H: Handler<T, App>,
    T: 'static,
{
    let (mut found, mut next) = (Vec::new(), None::<String>);
    let max_pages = if query == TEAMS { 1 } else { MAX_PAGES };
    for _ in 0..max_pages {
        let query = match &next {
            Some(cursor) => Fields::of_query(query).with("cursor", cursor).query(),
            None => query.to_owned(),
        };
        let mut reply = checked(visit.call(route, handler.clone(), Call::new().query(query)).await)?;
        if let Json::Array(items) = reply.body["items"].take() {
            found.extend(items);
        }
        next = reply.body["pagination"]["next_cursor"].as_str().map(str::to_owned);
        if next.is_none() {
            return Ok(Json::Array(found));
        }
    }
    Ok(json!({ "items": found, "is_complete": false }))
}

fn checked(reply: Reply) -> Result<Reply, Box<Reply>> {
    if reply.error().is_none() { Ok(reply) } else { Err(Box::new(reply)) }
}
