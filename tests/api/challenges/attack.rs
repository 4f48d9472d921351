//! The attack that was seen in public: one request for each network, random recipients, two hundred an hour.

use jiff::SignedDuration;
use serde_json::json;
use shared::model::limit::Limits;
use support::TestApp;

use super::*;

/// How far the requests of an attack are apart: 200 an hour.
const APART: SignedDuration = SignedDuration::from_secs(18);
const AN_HOUR: usize = 200;

/// A project with the limits of a deployment that asks for proof of work when somebody is suspicious.
async fn start() -> TestApp {
    let app = TestApp::start_with(Limits::standard()).await;
    guard(&app, json!({ "provider": "altcha" })).await;
    app
}

/// An address of a network that no other number has.
fn address(number: usize) -> String {
    format!("{}.{}.{}.7", 11 + number / 65_536, number / 256 % 256, number % 256)
}

#[tokio::test]
async fn a_flood_from_many_networks_ends_with_no_mail_to_strangers_until_it_ends() {
    let app = start().await;
    let mut sent = Vec::new();
    for number in 0..3 * AN_HOUR {
        // Half of it signs up, half of it wants codes.
        let (email, link) =
            (format!("stranger{number}@example.com"), json!({ "verification_callback_url": "http://localhost:3000/verify" }));
        let client = at(app.client(), &address(number));
        let answer = if number % 2 == 0 {
            client.post(SIGN_UP, account_of(&email, link)).await
        } else {
            client.post(SEND, code_for(&email, json!({}))).await
        };
        match answer.status() {
            200 => sent.push(number),
            _ => assert_required(&answer),
        }
        app.advance(APART);
    }
    // A window of the project ended within the first hour, and a part of what it had counted was over with it.
    assert!((100..=110).contains(&sent.len()), "{}", sent.len());
    assert_eq!(sent, (0..sent.len()).collect::<Vec<_>>(), "what is usual is let through, and then nothing");
    assert!(app.mails(&format!("stranger{}@example.com", 3 * AN_HOUR - 1)).await.is_empty());
}

#[tokio::test]
async fn a_flood_that_claims_to_have_no_challenge_available_gets_ten_mails_an_hour_at_most() {
    let app = start().await;
    let mut sent = 0;
    for number in 0..3 * AN_HOUR {
        let body = code_for(&format!("stranger{number}@example.com"), json!({ "bot_challenge_unavailable": "true" }));
        let answer = at(app.client(), &address(number)).post(SEND, body).await;
        if answer.status() == 200 {
            sent += usize::from(number >= AN_HOUR);
        } else {
            assert_failed(&answer);
        }
        app.advance(APART);
    }
    // In two hours: a flood that goes on uses its windows up by what is refused.
    assert!((1..=20).contains(&sent), "{sent}");
}

#[tokio::test]
async fn an_office_behind_one_address_sees_no_challenge() {
    let app = start().await;
    let office = at(app.client(), "203.0.113.7");
    for person in 0..36 {
        let email = format!("person{person}@example.com");
        let answer = if person % 3 == 0 {
            office.post(SIGN_UP, account_of(&email, json!({}))).await
        } else {
            office.post(SEND, code_for(&email, json!({}))).await
        };
        assert_eq!(answer.status(), 200, "person {person}: {}", answer.text());
        app.advance(SignedDuration::from_secs(90));
    }
}
