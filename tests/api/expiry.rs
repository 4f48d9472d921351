//! Every kind of item expires by TTL, is deleted with its owner, or exists only until a worker has
//! processed it. [`KINDS`] lists all kinds that operations and workers write.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use model::content::Content;
use model::email::category::Category;
use model::limit::Limits;
use model::outbox::status::Status;
use model::outbox::{CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use model::project::redirect::RedirectUrl;
use serde_json::{Value, json};
use store::provider::authorization::{self, AuthorizationCode, CODE_LIFE};
use support::{Items, TestApp};
use wire::clock::after;
use wire::id::{BroadcastId, OauthClientId, UserId};

use crate::challenges::{SIGN_UP, account_of, altcha, guard};
use crate::emails::{HOUR, entry_in};
use crate::events::{World, events};
use crate::webhooks::{ENDPOINTS, late};

/// The lifetime of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    /// Always has a TTL.
    Expires,
    /// The item has a TTL if its content expires.
    MayExpire,
    /// Has no TTL. The item is deleted at the latest with its project, its user, its team or the
    /// deployment.
    Lasts,
    /// The item exists until a worker has processed it.
    UntilDone,
}

use Life::{Expires, Lasts, MayExpire, UntilDone};

/// The kinds of items, identified by the prefixes of their partition and sort keys.
const KINDS: &[(&str, &str, Life)] = &[
    ("CONTENT", "SITE", Lasts),
    ("CONTENT", "APPS", Lasts),
    ("CONTENT", "PUBLICATION", Lasts),
    ("CONTENT", "POSTS", Lasts),
    ("CONTENT", "SLUGS", Lasts),
    ("CONTENT", "TEXT", Lasts),
    ("CONTENT", "FULL", Lasts),
    ("CONTENT", "IMAGES", Lasts),
    ("CONTENT", "IMAGE", Lasts),
    ("CONTENT", "~IMAGE", Lasts),
    ("PROJECTS", "", Lasts),
    ("P", "PROJECT", Lasts),
    ("P", "CONFIG", Lasts),
    ("P", "SIGNING", Lasts),
    ("P", "KEYS", Lasts),
    ("P", "KEY", MayExpire),
    ("P", "BOOST", Expires),
    ("TRAIL", "", Expires),
    ("LINKS", "LINK", Expires),
    ("LINKS", "HEAD", Lasts),
    ("T", "PROJECT", Lasts),
    ("ENDINGS", "PROJECT", UntilDone),
    ("U", "USER", Lasts),
    ("U", "IMAGE", Lasts),
    ("U", "PROVIDER", Lasts),
    ("U", "TEAM", Lasts),
    ("U", "SESSION", Expires),
    ("U", "DEVICE", Expires),
    ("E", "CLAIM", Lasts),
    ("WORDS", "", Lasts),
    ("O", "CLAIM", Lasts),
    ("U", "GRANT", Lasts),
    ("A", "CODE", Expires),
    ("A", "CLIENT", Expires),
    ("N", "REQUEST", Expires),
    ("N", "PUSHED", Expires),
    ("P", "OAUTHCLIENT", MayExpire),
    ("P", "OAUTHUNUSED", Expires),
    ("N", "FETCH", Expires),
    ("P", "OAUTHCLIENTS", Lasts),
    ("P", "OAUTHRESOURCE", Lasts),
    ("P", "OAUTHRESOURCES", Lasts),
    ("S", "STATE", Expires),
    ("C", "CODE", Expires),
    ("C", "TRIES", Expires),
    ("V", "RELEASE", Expires),
    ("V", "UNSUBSCRIBE", Expires),
    ("V", "NOT-ME", Expires),
    ("C", "USED", Expires),
    ("CLI", "SIGN_IN", Expires),
    ("CLI", "USER_CODE", Expires),
    ("K", "CLAIM", Lasts),
    ("P", "WEBHOOK", Lasts),
    ("P", "WEBHOOKS", Lasts),
    ("W", "STATE", Lasts),
    ("W", "QUEUE", Expires),
    ("W", "DELIVERY", Expires),
    ("W", "LATE", Expires),
    ("T", "TEAM", Lasts),
    ("T", "USER", Lasts),
    ("T", "IMAGE", Lasts),
    ("I", "INVITATION", Expires),
    ("T", "TEMPLATE", Lasts),
    ("T", "THEME", Lasts),
    ("T", "DRAFT", Lasts),
    ("T", "COUNT", Lasts),
    ("M", "ENTRY", Lasts),
    ("M", "BODY", Expires),
    ("B", "HEAD", UntilDone),
    ("B", "PAGE", UntilDone),
    ("D", "HOUR", Expires),
    ("Q", "BUCKET", Lasts),
    // Counters, and placeholders for users who do not exist.
    ("L", "COUNT", Expires),
    ("X", "DECOY", Expires),
    ("F", "TOTAL", Lasts),
    ("F", "RULE", Lasts),
    ("F", "DAY", Expires),
    ("F", "HOUR", Expires),
    ("U", "ACTIVE", Expires),
    ("T", "ACTIVE", Expires),
    ("T", "INVITED", Expires),
    // Solved bot challenges.
    ("B", "SPENT", Expires),
];

/// An item's kind. Sort keys do not have a prefix in the list of projects and in the index of
/// words. In an audit trail, sort keys begin with the time of the entry. Links have a separate
/// partition.
fn kind(pk: &str, sk: &str) -> (String, String) {
    let first = |key: &str| key.split('#').next().unwrap_or_default().to_owned();
    match pk.split('#').nth(2) {
        Some("TRAIL") => ("TRAIL".to_owned(), String::new()),
        Some("LINKS") => ("LINKS".to_owned(), first(sk)),
        _ => (first(pk), if pk == "PROJECTS" || pk.starts_with("WORDS#") { String::new() } else { first(sk) }),
    }
}

/// Checks every item, and records the kinds of the items.
fn check(what: &str, items: &Items, seen: &mut BTreeSet<(String, String)>) {
    for ((pk, sk), item) in items {
        let kind = kind(pk, sk);
        let life = KINDS.iter().find(|(of_pk, of_sk, _)| (*of_pk, *of_sk) == (&kind.0, &kind.1)).map(|(_, _, life)| *life);
        let life = life.unwrap_or_else(|| panic!("{what} writes {pk} / {sk}, which is not in the list: add it with its expiry"));
        let seconds = |value: &Value| value["N"].as_str().map(|number| number.parse::<i64>().unwrap());
        let (ttl, says) = (seconds(&item["ttl"]), seconds(&item["d"]["M"]["expires_at"]).map(|millis| millis / 1000));
        let has_ttl = match life {
            Expires => true,
            MayExpire => says.is_some(),
            Lasts | UntilDone => false,
        };
        assert_eq!(ttl.is_some(), has_ttl, "{what}: {pk} / {sk} should be {life:?}");
        // DynamoDB must not delete an item before its content expires.
        assert!(ttl.zip(says).is_none_or(|(ttl, says)| ttl >= says), "{what}: {pk} / {sk} is deleted before it expires");
        seen.insert(kind);
    }
}

/// Checks the remaining kinds of items. Their project has an email quota, expiring keys, a sent
/// email, a reset for an unknown user, an authorization code, an unfinished broadcast, a linked
/// trail with a matched sign-up rule, a late webhook event, a solved bot challenge, and content
/// with images.
async fn others(seen: &mut BTreeSet<(String, String)>) {
    let app = TestApp::start_sending(1000).await;
    let images = BTreeSet::from(["an image".to_owned()]);
    app.publish(&Content { images, ..gateway::content::sample(None) }).await;
    let keys = json!({
        "description": "", "expires_at_millis": app.now().as_millisecond() + HOUR, "has_publishable_client_key": true,
        "has_secret_server_key": true, "has_super_secret_admin_key": true,
    });
    let set = app.admin().post("/api/v1/internal/api-keys", keys).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    let rule = json!({ "id": "all", "condition": "true", "action": { "type": "log" } });
    app.configure(json!({ "config": { "sign_up_rules": [rule] } })).await;
    let ada = app.sign_up("ada@example.com").await;
    entry_in(&app, &ada, Status::Sent).await;
    check("an email", &app.table(), seen);
    // A reset for an unknown user.
    let nobody = json!({ "email": "nobody@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", nobody).await.status(), 200);
    check("a reset", &app.table(), seen);
    let store = &app.app.store;
    let client = OauthClientId::parse("5c1d7e2a-9b3f-4d6a-8e0c-2f4b6d8a1c3e").unwrap();
    store.lease_fetch(app.project_id(), client, app.now()).await.unwrap();
    check("a fetch of a client's document", &app.table(), seen);

    let code = AuthorizationCode {
        user_id: UserId::parse(&ada.user_id).unwrap(),
        epoch: 0,
        begun_in: None,
        redirect_uri: RedirectUrl::parse("http://localhost:3000/x").unwrap(),
        code_challenge: String::new(),
        after_callback_redirect_url: None,
        is_new_user: false,
        expires_at: after(app.now(), CODE_LIFE),
        pending: None,
        new_tokens: None,
        session_id: None,
        handed_over: None,
    };
    let code = authorization::create_code(app.project_id(), &app.app.entropy.code(), &code).unwrap();
    app.app.store.transact([code]).await.unwrap();
    let id = BroadcastId::from(app.app.entropy.uuid());
    let mail = OutboxEntry::new(id.uuid().into(), new_mail(), app.now());
    let users = [UserId::parse(&ada.user_id).unwrap()];
    app.app.store.create_broadcast(app.project_id(), id, &mail, &users, None).await.unwrap();
    check("a broadcast", &app.table(), seen);
    app.link_trail().await;
    check("links of the trail", &app.table(), seen);
    let hook = json!({ "url": "http://127.0.0.1:9", "event_types": ["user.created"] });
    let hook = app.admin().post(ENDPOINTS, hook).await.json();
    app.sign_up("eve@example.com").await;
    late::record_refused(&app, &hook).await;
    check("a late event", &app.table(), seen);

    guard(&app, json!({ "provider": "altcha", "sign_up": "always" })).await;
    let solved = altcha::visible(&altcha::solved(&altcha::easy(&app)));
    assert_eq!(app.client().post(SIGN_UP, account_of("bob@example.com", solved)).await.status(), 200);
    check("a bot challenge", &app.table(), seen);
}

fn new_mail() -> NewEntry {
    NewEntry {
        to: Recipients::CustomEmails { emails: Vec::new() },
        source: Source { html: Some("x".to_owned()), ..Source::default() },
        variables: serde_json::Map::new(),
        category: Category::Marketing,
        is_high_priority: false,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    }
}

#[tokio::test]
async fn every_item_expires_or_is_deleted_with_its_owner() {
    let mut seen = BTreeSet::new();
    let world = World::unobserved(Limits::standard()).await;
    let first = world.app.rows();
    check("the world of the events", &first.items(), &mut seen);
    world.app.send_emails().await;
    check("the emails of the world of the events", &first.new_items(&world.app.rows()), &mut seen);
    drop(world);
    for (name, event) in events() {
        let world = World::unobserved(Limits::standard()).await;
        world.send(&event).await;
        let after = world.app.rows();
        check(&name, &first.new_items(&after), &mut seen);
        // If the event does not change emails, sending emails would only repeat the check above.
        if !first.changed(&after).iter().any(|(pk, _)| ["M#", "B#"].iter().any(|of_emails| pk.starts_with(of_emails))) {
            continue;
        }
        world.app.send_emails().await;
        check(&format!("the emails of {name}"), &after.new_items(&world.app.rows()), &mut seen);
    }
    others(&mut seen).await;
    let missing = KINDS.iter().filter(|(pk, sk, _)| !seen.contains(&((*pk).to_owned(), (*sk).to_owned())));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(&str, &str, Life)>::new(), "nothing writes these kinds");
}

/// Deletes the items that have expired by the test's clock.
pub(crate) async fn delete_expired(app: &TestApp) {
    let store = &app.app.store;
    for ((pk, sk), item) in app.table() {
        let ttl: Option<i64> = item["ttl"]["N"].as_str().map(|seconds| seconds.parse().unwrap());
        if ttl.is_some_and(|ttl| ttl <= app.now().as_second()) {
            let delete = DeleteItemInput::builder().table_name(store.table());
            store.client().call(delete.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk))).await.unwrap();
        }
    }
}

#[tokio::test]
async fn expired_and_deleted_keys_can_be_revoked_by_their_set() {
    let app = TestApp::start().await;
    let at = app.now().as_millisecond() + HOUR;
    let keys = json!({
        "description": "", "expires_at_millis": at, "has_publishable_client_key": true, "has_secret_server_key": true,
        "has_super_secret_admin_key": true,
    });
    let before = app.table();
    let set = app.admin().post("/api/v1/internal/api-keys", keys).await.json();
    let new = app.table().into_iter().filter(|(key, _)| !before.contains_key(key));
    let ttls: Vec<_> = new.filter(|((_, sk), _)| sk.starts_with("KEY#")).map(|(_, item)| item["ttl"]["N"].clone()).collect();
    assert_eq!(ttls, vec![json!((at / 1000).to_string()); 3]);
    app.advance(jiff::SignedDuration::from_hours(1));
    delete_expired(&app).await;
    assert_eq!(app.table().keys().filter(|(_, sk)| sk.starts_with("KEY#")).count(), 3, "only the project's first keys remain");
    let path = format!("/api/v1/internal/api-keys/{}", set["id"].as_str().unwrap());
    let revoked = app.admin().patch(&path, json!({ "revoked": true })).await;
    assert_eq!((revoked.status(), &revoked.json()["manually_revoked_at_millis"]), (200, &json!(app.now().as_millisecond())));
}
