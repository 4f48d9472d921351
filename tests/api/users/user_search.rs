//! `GET /api/v1/users?starts_with=…`.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use support::TestApp;

use super::{USERS, assert_error, create, fields, id_of, path, update};

pub(super) fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The names on a page, and the cursor of the next page, if any.
pub(super) async fn page(app: &TestApp, beginning: &str, more: &str) -> (Vec<String>, Option<String>) {
    let answer = app.server().get(&format!("{USERS}?starts_with={}{more}", encoded(beginning))).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let page = answer.json();
    let name = |user: &Value| user["display_name"].as_str().or(user["primary_email"].as_str()).unwrap().to_owned();
    let names = page["items"].as_array().unwrap().iter().map(name);
    (names.collect(), page["pagination"]["next_cursor"].as_str().map(str::to_owned))
}

pub(super) async fn found(app: &TestApp, beginning: &str) -> Vec<String> {
    page(app, beginning, "").await.0
}

/// A service whose project has been counted, so that the words of all users are in the index.
pub(super) async fn counted() -> TestApp {
    let app = TestApp::start().await;
    recount(&app).await;
    app
}

pub(super) async fn recount(app: &TestApp) {
    workers::recount::totals(&app.app, app.project_id(), 1000).await.unwrap().unwrap();
}

pub(super) fn words(app: &TestApp) -> Vec<String> {
    let items = app.table();
    let of_words = items.keys().filter(|(pk, _)| pk.starts_with("WORDS#")).map(|(_, sk)| sk.rsplit_once('#').unwrap().0.to_owned());
    let mut words: Vec<String> = of_words.collect();
    words.sort();
    words
}

/// Removes the words, including the places of claimed addresses, and all figures. The figures
/// contain the record that the words are complete. Earlier versions have neither.
async fn forget_words(app: &TestApp) {
    for ((pk, sk), _) in app.table() {
        let (table, pk_value, sk_value) = (gateway::engine::TABLE, AttributeValue::S(pk.clone()), AttributeValue::S(sk));
        if pk.starts_with("E#") {
            let update = UpdateItemInput::builder().table_name(table).key("pk", pk_value).key("sk", sk_value);
            app.app.store.client().call(update.update_expression("REMOVE gsi2pk, gsi2sk")).await.unwrap();
        } else if pk.starts_with("F#") || pk.starts_with("WORDS#") {
            let delete = DeleteItemInput::builder().table_name(table).key("pk", pk_value).key("sk", sk_value);
            app.app.store.client().call(delete).await.unwrap();
        }
    }
}

async fn people(app: &TestApp) {
    let signs_in = |email: &str| json!({ "primary_email": email, "primary_email_auth_enabled": true });
    for (name, mut body) in [
        ("Ada Lovelace", signs_in("countess@example.com")),
        ("Adam  ＳＭＩＴＨ", json!({ "primary_email": "smith@example.org" })),
        ("Émile Zola de Médan et Paris", json!({})),
        ("李小龍", json!({ "restricted_by_admin": true })),
        ("Adele", json!({ "is_anonymous": true })),
        ("a%_#!~", json!({})),
    ] {
        body["display_name"] = json!(name);
        create(app, body).await;
    }
}

#[tokio::test]
async fn users_are_found_by_the_beginning_of_names_and_addresses() {
    let app = counted().await;
    people(&app).await;
    for (beginning, expected) in [
        ("ada", vec!["Ada Lovelace", "Adam  ＳＭＩＴＨ"]),
        ("  ADA ", vec!["Ada Lovelace", "Adam  ＳＭＩＴＨ"]),
        ("ada l", vec!["Ada Lovelace"]),
        ("love", vec!["Ada Lovelace"]),
        ("lace", vec![]),
        ("countess@", vec!["Ada Lovelace"]),
        ("COUNTESS@EXAMPLE.COM", vec!["Ada Lovelace"]),
        // A user is found by name, and by an address that is not used for signing in.
        ("smith", vec!["Adam  ＳＭＩＴＨ"]),
        ("smith@example.org", vec!["Adam  ＳＭＩＴＨ"]),
        ("e\u{301}mile", vec!["Émile Zola de Médan et Paris"]),
        ("de méd", vec!["Émile Zola de Médan et Paris"]),
        ("paris", vec![]),
        ("李", vec![]),
        ("a%", vec!["a%_#!~"]),
        ("a%_#!~", vec!["a%_#!~"]),
        ("\u{10ffff}", vec![]),
        ("x#", vec![]),
    ] {
        assert_eq!(found(&app, beginning).await, expected, "{beginning:?}");
    }
    assert_eq!(page(&app, "李小", "&include_restricted=true").await.0, ["李小龍"]);
    assert_eq!(page(&app, "ade", "&include_anonymous=true&only_anonymous=true").await.0, ["Adele"]);
    assert_eq!(found(&app, "").await.len(), 4, "an empty text is no search");
    let ada = app.server().get(&format!("{USERS}?query=lovelace")).await.json()["items"][0].clone();
    assert_eq!(found(&app, &id_of(&ada).to_uppercase()).await, ["Ada Lovelace"]);
    assert_eq!(found(&app, &id_of(&ada)[..8]).await, Vec::<String>::new());
    assert_eq!(app.server().get(&format!("{USERS}?starts_with=love")).await.json()["items"][0], ada, "as in other lists");
}

#[tokio::test]
async fn long_texts_are_compared_as_a_whole() {
    let app = counted().await;
    let (one, two) = (format!("{}one", "é".repeat(200)), format!("{}two", "é".repeat(200)));
    for name in [&one, &two] {
        create(&app, json!({ "display_name": name })).await;
    }
    assert_eq!(found(&app, &two).await, std::slice::from_ref(&two));
    assert_eq!(found(&app, &"é".repeat(150)).await.len(), 2);
    assert_eq!(found(&app, &format!("{}x", "é".repeat(150))).await, Vec::<String>::new());
    assert_eq!(found(&app, &"é".repeat(3000)).await, Vec::<String>::new());
}

#[tokio::test]
async fn words_follow_every_change_of_a_user_at_once() {
    let app = counted().await;
    let ada = create(&app, json!({ "display_name": "Ada Lovelace", "primary_email": "ada@example.com" })).await;
    let id = id_of(&ada);
    assert_eq!(words(&app), ["ada lovelace", "ada@example.com", "lovelace"]);
    update(&app, &id, json!({ "display_name": "Ada King" })).await;
    assert_eq!(words(&app), ["ada king", "ada@example.com", "king"]);
    assert_eq!((found(&app, "lovelace").await, found(&app, "king").await), (vec![], vec!["Ada King".to_owned()]));
    // An address that is used for signing in is found through its claim, which is in the index
    // instead of a word.
    update(&app, &id, json!({ "primary_email_auth_enabled": true })).await;
    assert_eq!(words(&app), ["ada king", "king"]);
    assert_eq!(found(&app, "ada@").await, ["Ada King"]);
    update(&app, &id, json!({ "primary_email_auth_enabled": false })).await;
    assert_eq!(words(&app), ["ada king", "ada@example.com", "king"]);
    update(&app, &id, json!({ "primary_email": "countess@example.com", "primary_email_auth_enabled": true })).await;
    assert_eq!(found(&app, "countess").await, ["Ada King"]);
    assert_eq!(found(&app, "ada@").await, Vec::<String>::new(), "an address that is neither primary nor signs in");
    update(&app, &id, json!({ "display_name": null })).await;
    assert_eq!(words(&app), Vec::<String>::new());
    assert_eq!(found(&app, "countess").await, ["countess@example.com"]);
    update(&app, &id, json!({ "display_name": "Ada", "client_metadata": { "x": 1 } })).await;
    assert_eq!(app.server().delete(&path(&id)).await.status(), 200);
    assert_eq!((words(&app), found(&app, "ada").await, found(&app, "countess").await), (vec![], vec![], vec![]));
}

#[tokio::test]
async fn people_who_sign_up_are_found() {
    let app = counted().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(found(&app, "ada").await, ["ada@example.com"]);
    let visitor = crate::stored::anonymous_user(&app).await;
    let caller = app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    assert_eq!(caller.patch("/api/v1/users/me", json!({ "display_name": "Grace Hopper" })).await.status(), 200);
    assert_eq!(found(&app, "hop").await, Vec::<String>::new());
    let sign_up = json!({ "email": "grace@example.com", "password": "correct horse battery" });
    assert_eq!(caller.post("/api/v1/auth/password/sign-up", sign_up).await.status(), 200);
    for beginning in ["hop", "grace@"] {
        assert_eq!(found(&app, beginning).await, ["Grace Hopper"], "{beginning}");
    }
    let own = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await;
    assert_eq!((own.status(), found(&app, "ada").await), (200, vec!["Ada".to_owned()]), "the user is found once, although two words match");
}

#[tokio::test]
async fn every_page_size_finds_each_user_once() {
    let app = counted().await;
    for number in 0..23 {
        let body = json!({ "display_name": format!("ann{number:02} annex anna"), "primary_email": format!("ann{number:02}@example.com") });
        create(&app, body).await;
    }
    for limit in [1, 2, 7, 23, 200] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let (names, next) = page(&app, "ann", &format!("&limit={limit}{cursor}")).await;
            seen.extend(names);
            let Some(next) = next else { break };
            cursor = format!("&cursor={next}");
        }
        let expected: Vec<String> = (0..23).map(|number| format!("ann{number:02} annex anna")).collect();
        assert_eq!(seen, expected, "limit {limit}");
    }
    // A cursor is valid only for the search that it belongs to.
    let cursor = page(&app, "ann", "&limit=1").await.1.unwrap();
    for query in ["starts_with=anna", "starts_with=b", "limit=1"] {
        assert_error(&app.server().get(&format!("{USERS}?{query}&cursor={cursor}")).await, 400, "INVALID_CURSOR");
    }
    assert_eq!(page(&app, " ANN", &format!("&limit=1&cursor={cursor}")).await.0, ["ann01 annex anna"]);
}

#[tokio::test]
async fn a_search_reads_no_more_with_more_users() {
    let app = counted().await;
    create(&app, json!({ "display_name": "Zoe" })).await;
    let calls = async |app: &TestApp| {
        app.recorder.clear();
        assert_eq!(found(app, "zo").await, ["Zoe"]);
        app.recorder.calls().len()
    };
    found(&app, "zo").await;
    let before = calls(&app).await;
    for number in 0..150 {
        create(&app, json!({ "display_name": format!("Ann {number}") })).await;
    }
    assert_eq!(calls(&app).await, before);
    assert_eq!(page(&app, "ann", "&limit=200").await.0.len(), 150);
}

#[tokio::test]
async fn a_project_finds_only_its_own_users() {
    let app = counted().await;
    people(&app).await;
    let other = app.another_project().await;
    let answer = app.server_of(&other).get(&format!("{USERS}?starts_with=ada")).await;
    assert_eq!((answer.status(), &answer.json()["items"]), (200, &json!([])));
    workers::recount::totals(&app.app, &other.project_id, 1000).await.unwrap().unwrap();
    let answer = app.server_of(&other).get(&format!("{USERS}?starts_with=ada")).await;
    assert_eq!((answer.status(), &answer.json()["items"]), (200, &json!([])));
}

#[tokio::test]
async fn users_of_an_earlier_version_are_found_before_and_after_they_are_indexed() {
    let app = counted().await;
    people(&app).await;
    let all = words(&app);
    forget_words(&app).await;
    assert_eq!(words(&app), Vec::<String>::new());
    for beginning in ["love", "countess", "smith"] {
        assert_eq!(found(&app, beginning).await.len(), 1, "{beginning}");
    }
    assert_eq!(page(&app, "ada", "&limit=1").await.0, ["Ada Lovelace"]);
    // When the next entry of the trail is linked, the worker also indexes the other users.
    create(&app, json!({ "display_name": "New" })).await;
    app.link_trail().await;
    let mut expected = all;
    expected.push("new".to_owned());
    expected.sort();
    assert_eq!(words(&app), expected);
    app.recorder.clear();
    for beginning in ["love", "countess", "smith", "new"] {
        assert_eq!(found(&app, beginning).await.len(), 1, "{beginning}");
    }
    let queries = app.recorder.calls().into_iter().filter(|(_, body)| body.contains("\"gsi1\"")).count();
    assert_eq!(queries, 0, "the list is no longer read");
}

#[tokio::test]
async fn an_index_that_lags_behind_shows_nobody_by_a_word_they_have_lost() {
    let app = counted().await;
    let ada = create(&app, json!({ "display_name": "Ada" })).await;
    let stale = app.table().into_iter().find(|((pk, _), _)| pk.starts_with("WORDS#")).unwrap();
    update(&app, &id_of(&ada), json!({ "display_name": "Grace" })).await;
    let put = aws_sdk_dynamodb::operation::put_item::PutItemInput::builder().table_name(gateway::engine::TABLE);
    let put = put.item("pk", AttributeValue::S(stale.0.0)).item("sk", AttributeValue::S(stale.0.1));
    app.app.store.client().call(put).await.unwrap();
    assert_eq!((found(&app, "ada").await, found(&app, "gra").await), (vec![], vec!["Grace".to_owned()]));
}

#[tokio::test]
async fn a_search_by_beginning_has_no_other_order_and_no_other_search() {
    let app = counted().await;
    for more in ["query=x", "order_by=signed_up_at", "desc=false", "team_id=7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21"] {
        let answer = app.server().get(&format!("{USERS}?starts_with=a&{more}")).await;
        assert_eq!((answer.status(), fields(&answer)), (400, vec!["query.starts_with".to_owned()]), "{more}");
    }
    assert_eq!(app.client().get(&format!("{USERS}?starts_with=a")).await.code(), "INSUFFICIENT_ACCESS_TYPE");
}
