//! What the service knows about the user, as a file: what the API's operations answer to the user,
//! unchanged. If one of them refuses, there is no file, rather than one that looks complete.

use auth_functions::{mfa_authenticator_list, mfa_device_list, oauth_provider_list, passkey_list, session_list};
use axum::handler::Handler;
use flows::App;
use keys_functions::user_key_list;
use serde_json::{Map, Value as Json, json};
use teams_functions::{invitation_list, team_list};
use users_functions::{contact_channel_list, me_activity, me_read};

use crate::account::outcome::Outcome;
use crate::answer::Answer;
use crate::visit::Visit;
use crate::visit::call::{Call, Reply};
use crate::visit::fields::Fields;
use api::http::Route;

/// The most pages that are read of a list, so that the file stays below what a function can answer.
const MAX_PAGES: usize = 20;

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
    put("contact_channels", all(visit, contact_channel_list::ROUTE, contact_channel_list::handle, of_me).await?);
    put("sessions", all(visit, session_list::ROUTE, session_list::handle, "user_id=me&limit=100").await?);
    put("passkeys", all(visit, passkey_list::ROUTE, passkey_list::handle, of_me).await?);
    put("authenticators", all(visit, mfa_authenticator_list::ROUTE, mfa_authenticator_list::handle, "").await?);
    put("remembered_devices", all(visit, mfa_device_list::ROUTE, mfa_device_list::handle, "").await?);
    put("provider_accounts", all(visit, oauth_provider_list::ROUTE, oauth_provider_list::handle, of_me).await?);
    put("teams", all(visit, team_list::ROUTE, team_list::handle, "user_id=me&limit=1000").await?);
    put("team_invitations", all(visit, invitation_list::ROUTE, invitation_list::handle, of_me).await?);
    if visit.project.config.user_api_keys_enabled {
        put("api_keys", all(visit, user_key_list::ROUTE, user_key_list::handle, of_me).await?);
    }
    put("activity", all(visit, me_activity::ROUTE, me_activity::handle, "limit=100").await?);
    Ok(Json::Object(data))
}

/// All items of a list, page by page. A list that goes on beyond the last page read says so.
async fn all<H, T>(visit: &Visit, route: Route, handler: H, query: &str) -> Result<Json, Box<Reply>>
where
    H: Handler<T, App>,
    T: 'static,
{
    let (mut found, mut next) = (Vec::new(), None::<String>);
    for _ in 0..MAX_PAGES {
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
