//! Writes directly to the table, without requests.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::project::{ProjectConfig, SessionSettings};
use model::session::token::Subject;
use model::session::{Session, refresh_token};
use model::user::User;
use secrecy::ExposeSecret as _;
use serde_json::json;
use store::{keys, session, user};
use support::{SignedInUser, TestApp};
use wire::id::UserId;

pub(crate) fn user_id(user: &SignedInUser) -> UserId {
    UserId::parse(&user.user_id).unwrap()
}

/// Creates an anonymous user with a session.
pub(crate) async fn anonymous_user(app: &TestApp) -> SignedInUser {
    let (app, project, now) = (&app.app, app.project_id(), app.now());
    let mut user = User::new(&app.entropy, now);
    user.is_anonymous = true;
    let session = Session::start(&user, &SessionSettings::default(), None, &app.entropy, now);
    let refresh_token = refresh_token::draw(&app.entropy, &session);
    let mut writes = vec![user::create(project, &user).unwrap()];
    writes.push(session::create(project, &session, &refresh_token).unwrap());
    app.store.transact(writes).await.unwrap();
    let subject = Subject::of(&user, project, &ProjectConfig::default(), &session);
    SignedInUser {
        user_id: user.id.to_string(),
        email: String::new(),
        access_token: app.signer.sign(&subject, now, app.settings.access_token_life),
        refresh_token: refresh_token.expose_secret().to_owned(),
    }
}

pub(crate) async fn delete_user(app: &TestApp, user: &SignedInUser) {
    let (store, key) = (&app.app.store, keys::user_key(app.project_id(), user_id(user)));
    let delete = DeleteItemInput::builder().table_name(store.table());
    store.client().call(delete.key("pk", AttributeValue::S(key.pk)).key("sk", AttributeValue::S(key.sk))).await.unwrap();
}

/// Changes a stored user directly, without a request.
pub(crate) async fn change_user(app: &TestApp, user: &SignedInUser, change: impl FnOnce(&mut User)) {
    let (store, project) = (&app.app.store, app.project_id());
    let mut row = store.user(project, user_id(user)).await.unwrap().unwrap();
    change(&mut row.user);
    store.write(user::replace(project, &row.user, row.version).unwrap()).await.unwrap();
}

/// Adds sessions that start now and that `change` modifies, and returns their refresh tokens.
pub(crate) async fn add_sessions(app: &TestApp, user: &SignedInUser, count: usize, change: impl Fn(&mut Session)) -> Vec<String> {
    let (store, project) = (&app.app.store, app.project_id());
    let row = store.user(project, user_id(user)).await.unwrap().unwrap();
    let mut tokens = Vec::with_capacity(count);
    let mut writes = Vec::with_capacity(2 * count);
    for _ in 0..count {
        let mut session = Session::start(&row.user, &SessionSettings::default(), None, &app.app.entropy, app.now());
        change(&mut session);
        let token = refresh_token::draw(&app.app.entropy, &session);
        writes.push(session::create(project, &session, &token).unwrap());
        tokens.push(token.expose_secret().to_owned());
    }
    for chunk in writes.chunks(100) {
        store.transact(chunk.to_vec()).await.unwrap();
    }
    tokens
}

/// The part of the refresh tokens of [`older_sessions`] that proves possession of the token.
const PROOF: &str = "0123456789abcdefghjkmnpqrs";

/// Turns all sessions into sessions of an earlier version. The refresh tokens of these sessions
/// ([`older_token`]) have claims. If `is_oldest` is set, turns them into sessions of the earliest
/// version, in which an index finds a session's claim.
pub(crate) fn older_sessions(app: &TestApp, is_oldest: bool) {
    let (database, table) = (app.database(), gateway::engine::TABLE);
    let put = |item| database.put_item(serde_json::from_value(json!({ "TableName": table, "Item": item })).unwrap()).unwrap();
    for ((pk, sk), mut item) in app.table() {
        let Some(session) = sk.strip_prefix("SESSION#") else { continue };
        let fields = item.as_object_mut().unwrap();
        for name in ["digest", "gsi2pk", "gsi2sk", "trail"] {
            fields.remove(name);
        }
        let project = pk.split('#').nth(1).unwrap();
        let id = session.replace('-', "");
        let digest = Digest::of(&format!("{}{PROOF}", selector(&id)));
        let name = if is_oldest { digest.as_str() } else { selector(&id) };
        let mut claim = json!({
            "pk": { "S": format!("R#{project}#{name}") },
            "sk": { "S": "CLAIM" },
            "ttl": fields["ttl"],
            "d": { "M": { "user_id": fields["d"]["M"]["user_id"], "session_id": { "S": session } } },
        });
        if is_oldest {
            claim["gsi1pk"] = json!({ "S": format!("SESSION#{project}#{session}") });
            claim["gsi1sk"] = json!({ "S": "CLAIM" });
        } else {
            claim["digest"] = json!({ "S": digest.as_str() });
        }
        put(claim);
        put(item);
    }
}

/// The refresh token that a session has after [`older_sessions`].
pub(crate) fn older_token(token: &str) -> String {
    format!("{}{PROOF}", selector(&token[32..64]))
}

/// The selector of a session, derived from the session's id without hyphens.
fn selector(session: &str) -> &str {
    &session[13..]
}
