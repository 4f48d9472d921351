//! Writes data to the table directly, without the requests that would create it.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::project::{ProjectConfig, SessionSettings};
use model::session::Session;
use model::session::token::Subject;
use model::user::User;
use secrecy::ExposeSecret as _;
use store::session::token;
use store::{keys, session, user};
use support::{SignedIn, TestApp};
use wire::id::UserId;

pub(crate) fn user_id(user: &SignedIn) -> UserId {
    UserId::parse(&user.user_id).unwrap()
}

/// Creates an anonymous user with a session.
pub(crate) async fn anonymous_user(app: &TestApp) -> SignedIn {
    let (app, project, now) = (&app.app, app.project_id(), app.now());
    let mut user = User::new(&app.entropy, now);
    user.is_anonymous = true;
    let session = Session::start(&user, &SessionSettings::default(), None, &app.entropy, now);
    let refresh_token = token::draw(&session, &app.entropy);
    let writes = [user::create(project, &user).unwrap(), session::create(project, &session, &refresh_token).unwrap()];
    app.store.transact(writes).await.unwrap();
    let subject = Subject::of(&user, project, &ProjectConfig::default(), &session);
    SignedIn {
        user_id: user.id.to_string(),
        email: String::new(),
        access_token: app.signer.sign(&subject, now, app.settings.access_token_life),
        refresh_token: refresh_token.expose_secret().to_owned(),
    }
}

pub(crate) async fn delete_user(app: &TestApp, user: &SignedIn) {
    let (store, key) = (&app.app.store, keys::user_key(app.project_id(), user_id(user)));
    let delete = DeleteItemInput::builder().table_name(store.table());
    store.client().call(delete.key("pk", AttributeValue::S(key.pk)).key("sk", AttributeValue::S(key.sk))).await.unwrap();
}

/// Changes a stored user directly, without a request.
pub(crate) async fn change_user(app: &TestApp, user: &SignedIn, change: impl FnOnce(&mut User)) {
    let (store, project) = (&app.app.store, app.project_id());
    let mut row = store.user(project, user_id(user)).await.unwrap().unwrap();
    change(&mut row.user);
    store.write(user::replace(project, &row.user, row.version).unwrap()).await.unwrap();
}

/// Makes a session look as one of an earlier version: its refresh token is another one of 45
/// characters, whose claim is an item of its own. Returns the token.
pub(crate) async fn age_session(app: &TestApp, user: &SignedIn, session: &str) -> String {
    let (store, project) = (&app.app.store, app.project_id());
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let update = UpdateItemInput::builder().table_name(store.table()).update_expression("REMOVE #token, gsi2pk, gsi2sk");
    let update = update.expression_attribute_names("#token", "token");
    let update = update.key("pk", text(&format!("U#{project}#{}", user.user_id))).key("sk", text(&format!("SESSION#{session}")));
    store.client().call(update).await.unwrap();
    let token = app.app.entropy.code().expose_secret().to_owned();
    write_claim(app, project.as_str(), (&user.user_id, session), &token).await;
    token
}

/// Writes the claim of a refresh token as an earlier version did.
pub(crate) async fn write_claim(app: &TestApp, project: &str, (user, session): (&str, &str), token: &str) {
    let (store, text) = (&app.app.store, |text: &str| AttributeValue::S(text.to_owned()));
    let claim = [("user_id", user), ("session_id", session)].map(|(name, id)| (name.to_owned(), text(id)));
    let put = PutItemInput::builder().table_name(store.table()).item("d", AttributeValue::M(HashMap::from(claim)));
    let put = put.item("pk", text(&format!("R#{project}#{}", Digest::of(token)))).item("sk", text("CLAIM"));
    let put = put.item("gsi1pk", text(&format!("SESSION#{project}#{session}"))).item("gsi1sk", text("CLAIM"));
    store.client().call(put.item("ttl", AttributeValue::N("4102444800".to_owned()))).await.unwrap();
}

/// Adds sessions that began now, and returns their refresh tokens.
pub(crate) async fn add_sessions(app: &TestApp, user: &SignedIn, count: usize, change: impl Fn(&mut Session)) -> Vec<String> {
    let (store, project) = (&app.app.store, app.project_id());
    let row = store.user(project, user_id(user)).await.unwrap().unwrap();
    let mut tokens = Vec::with_capacity(count);
    let mut writes = Vec::with_capacity(count);
    for _ in 0..count {
        let mut session = Session::start(&row.user, &SessionSettings::default(), None, &app.app.entropy, app.now());
        change(&mut session);
        let token = token::draw(&session, &app.app.entropy);
        writes.push(session::create(project, &session, &token).unwrap());
        tokens.push(token.expose_secret().to_owned());
    }
    for chunk in writes.chunks(100) {
        store.transact(chunk.to_vec()).await.unwrap();
    }
    tokens
}
