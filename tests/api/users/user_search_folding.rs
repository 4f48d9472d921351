//! Users are found by names with accents, by words in any order, and by addresses with non-ASCII
//! domains.

use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::json;
use support::TestApp;

use super::user_search::{counted, encoded, found, recount, words};
use super::{USERS, create, id_of, path, update};

async fn people(app: &TestApp) {
    for (name, email) in [
        ("Núñez", "n@example.com"),
        ("Mei Chen", "m@example.com"),
        ("Łukasz Søren Straße", "l@example.com"),
        ("Ada", "ada@münchen.example"),
        ("Chenoa", "c@example.com"),
    ] {
        create(app, json!({ "display_name": name, "primary_email": email, "primary_email_auth_enabled": true })).await;
    }
}

/// The names that a search within words finds.
async fn containing(app: &TestApp, text: &str) -> Vec<String> {
    let answer = app.server().get(&format!("{USERS}?query={}", encoded(text))).await.json();
    answer["items"].as_array().unwrap().iter().map(|user| user["display_name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn accents_order_and_the_form_of_a_domain_do_not_matter() {
    let app = counted().await;
    people(&app).await;
    for (text, expected) in [
        ("nunez", vec!["Núñez"]),
        ("NÚÑEZ", vec!["Núñez"]),
        ("nun\u{303}ez", vec!["Núñez"]),
        ("chen mei", vec!["Mei Chen"]),
        ("mei chen", vec!["Mei Chen"]),
        ("che me", vec!["Mei Chen"]),
        ("chen", vec!["Mei Chen", "Chenoa"]),
        ("chen n@example.com", vec![]),
        ("chen m@example", vec!["Mei Chen"]),
        ("lukasz", vec!["Łukasz Søren Straße"]),
        ("strasse soren", vec!["Łukasz Søren Straße"]),
        ("münchen", vec!["Ada"]),
        ("munchen", vec!["Ada"]),
        ("ada@mün", vec!["Ada"]),
        ("ada@xn--mnchen", vec!["Ada"]),
        ("ada münchen", vec!["Ada"]),
    ] {
        let mut by_index = found(&app, text).await;
        by_index.sort();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(by_index, expected, "starting with {text:?}");
        for name in expected {
            assert!(containing(&app, text).await.contains(&name.to_owned()), "containing {text:?}");
        }
    }
    assert_eq!(containing(&app, "xn--mnchen-3ya").await, ["Ada"]);
    assert_eq!(containing(&app, "hen ei").await, ["Mei Chen"]);
}

/// An earlier version did not remove accents from words.
#[tokio::test]
async fn words_with_accents_of_an_earlier_version_are_replaced() {
    let app = counted().await;
    let nunez = create(&app, json!({ "display_name": "Ana Núñez" })).await;
    let (table, client) = (gateway::engine::TABLE, app.app.store.client());
    // Restores the items that the earlier version stored.
    for ((pk, sk), _) in app.table() {
        let (pk_value, sk_value) = (AttributeValue::S(pk.clone()), AttributeValue::S(sk.clone()));
        if pk.starts_with("WORDS#") {
            let delete = aws_sdk_dynamodb::operation::delete_item::DeleteItemInput::builder().table_name(table);
            client.call(delete.key("pk", pk_value.clone()).key("sk", sk_value)).await.unwrap();
            let put = PutItemInput::builder().table_name(table).item("pk", pk_value);
            client.call(put.item("sk", AttributeValue::S(sk.replace("nunez", "núñez")))).await.unwrap();
        } else if pk.starts_with("F#") && sk == "TOTAL#ALL" {
            let update = UpdateItemInput::builder().table_name(table).key("pk", pk_value).key("sk", sk_value);
            let update = update.update_expression("SET lists_words = :one REMOVE lists_folded_words");
            client.call(update.expression_attribute_values(":one", AttributeValue::N("1".to_owned()))).await.unwrap();
        }
    }
    assert_eq!(words(&app), ["ana núñez", "núñez"]);
    for text in ["nunez", "núñez", "nunez ana"] {
        assert_eq!(found(&app, text).await, ["Ana Núñez"], "{text}: the list is searched");
    }
    recount(&app).await;
    assert_eq!(words(&app), ["ana nunez", "nunez"]);
    assert_eq!(found(&app, "nunez").await, ["Ana Núñez"]);

    // Words that have not been replaced yet disappear together with the name.
    let late = PutItemInput::builder().table_name(table);
    let ((pk, sk), _) = app.table().into_iter().find(|((pk, sk), _)| pk.starts_with("WORDS#") && sk.starts_with("nunez")).unwrap();
    let late = late.item("pk", AttributeValue::S(pk)).item("sk", AttributeValue::S(sk.replace("nunez", "núñez")));
    client.call(late.clone()).await.unwrap();
    update(&app, &id_of(&nunez), json!({ "display_name": "Ana" })).await;
    assert_eq!(words(&app), ["ana"]);
    update(&app, &id_of(&nunez), json!({ "display_name": "Ana Núñez" })).await;
    client.call(late).await.unwrap();
    assert_eq!(app.server().delete(&path(id_of(&nunez))).await.status(), 200);
    assert_eq!(words(&app), Vec::<String>::new());
}
