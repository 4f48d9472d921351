//! The attack that was seen in public: one request for each network, random recipients, two hundred an hour.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Caller, SignedIn, TestApp};

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

const CHANNELS: &str = "/api/v1/contact-channels";
const INVITE: &str = "/api/v1/team-invitations/send-code";
const CALLBACK: &str = "http://localhost:3000/link";

fn stranger(number: usize) -> String {
    format!("stranger{number}@example.com")
}

/// Somebody who is signed in, at an address.
fn signed_in(app: &TestApp, user: &SignedIn, address: &str) -> Caller {
    at(app.signed_in(user).with("x-stack-allow-anonymous-user", "true"), address)
}

/// The same user with an access token that has not expired.
async fn refreshed(app: &TestApp, user: &SignedIn) -> SignedIn {
    let client = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let answer = client.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    SignedIn { access_token: answer.json()["access_token"].as_str().unwrap().to_owned(), ..user.clone() }
}

/// Signs up nobody in particular.
async fn anonymous(app: &TestApp, address: &str) -> SignedIn {
    SignedIn::of("", &at(app.client(), address).post("/api/v1/auth/anonymous/sign-up", json!({})).await.json())
}

/// Adds an address to the caller's own, and asks for the email that verifies it.
async fn verify(caller: &Caller, email: &str, fields: Value) -> Answer {
    let new = json!({ "user_id": "me", "value": email, "type": "email", "used_for_auth": false });
    let added = caller.post(CHANNELS, new).await;
    assert_eq!(added.status(), 201, "{}", added.text());
    send_code(caller, &added.json()["id"], fields).await
}

async fn send_code(caller: &Caller, channel: &Value, fields: Value) -> Answer {
    let path = format!("{CHANNELS}/me/{}/send-verification-code", channel.as_str().unwrap());
    caller.post(&path, with(json!({ "callback_url": CALLBACK }), fields)).await
}

async fn invite(caller: &Caller, team: &str, email: &str) -> Answer {
    caller.post(INVITE, json!({ "team_id": team, "email": email, "callback_url": CALLBACK })).await
}

/// A team of somebody's own.
async fn team_of(caller: &Caller) -> String {
    let made = caller.post("/api/v1/teams", json!({ "display_name": "Engines" })).await;
    assert_eq!(made.status(), 201, "{}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

/// How many emails have gone to strangers.
async fn mailed(app: &TestApp, count: usize) -> usize {
    let mut mailed = 0;
    for number in 0..count {
        mailed += app.mails(&stranger(number)).await.len();
    }
    mailed
}

#[tokio::test]
async fn anonymous_users_have_no_stranger_mailed_without_a_challenge() {
    let app = start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
    for number in 0..60 {
        let address = address(number);
        let nobody = signed_in(&app, &anonymous(&app, &address).await, &address);
        let answer = match number % 3 {
            0 => verify(&nobody, &stranger(number), json!({})).await,
            1 => invite(&nobody, &team_of(&nobody).await, &stranger(number)).await,
            _ => {
                // The address is primary, and what is about it names it.
                assert_eq!(nobody.patch("/api/v1/users/me", json!({ "primary_email": stranger(number) })).await.status(), 200);
                let body = json!({ "email": stranger(number), "callback_url": CALLBACK });
                nobody.post(&format!("{CHANNELS}/send-verification-code"), body).await
            }
        };
        assert_required(&answer);
    }
    assert_eq!(mailed(&app, 60).await, 0);
}

#[tokio::test]
async fn an_anonymous_user_who_solves_a_challenge_has_one_address_mailed() {
    let app = start().await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    let solved = altcha::visible(&altcha::solved(&altcha::easy(&app)));
    assert_eq!(verify(&nobody, &stranger(0), solved.clone()).await.status(), 200);
    assert_failed(&verify(&nobody, &stranger(1), solved).await);
    assert_failed(&verify(&nobody, &stranger(2), json!({ "bot_challenge_unavailable": "true", "bot_challenge_phase": "visible" })).await);
    assert_eq!(mailed(&app, 3).await, 1);
}

#[tokio::test]
async fn accounts_that_were_made_by_hand_mail_no_more_strangers_than_is_usual() {
    for policy in ["when-suspicious", "always"] {
        let app = TestApp::start_with(Limits::standard()).await;
        let mut users = Vec::new();
        for number in 0..20 {
            users.push(app.sign_up(&format!("maker{number}@example.com")).await);
        }
        guard(&app, json!({ "provider": "altcha", "sign_up": policy, "send_sign_in_code": policy })).await;
        let (mut sent, mut refused) = (0, 0);
        for number in 0..2 * AN_HOUR {
            let user = refreshed(&app, &users[number % users.len()]).await;
            let answer = verify(&signed_in(&app, &user, &address(number)), &stranger(number), json!({})).await;
            match answer.status() {
                200 => sent += 1,
                _ => {
                    assert_required(&answer);
                    refused += 1;
                }
            }
            app.advance(APART);
        }
        assert!((100..=110).contains(&sent) && refused > 250, "{policy}: {sent} and {refused}");
        assert_eq!(mailed(&app, 2 * AN_HOUR).await, sent);
    }
}

#[tokio::test]
async fn one_account_asks_for_thirty_emails_to_strangers_in_an_hour_wherever_it_is() {
    let app = start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true, "bot_challenge_usual_requests_per_hour": 1000 } })).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let team = team_of(&app.signed_in(&ada)).await;
    let mut sent = 0;
    // By both ways together, and at once.
    for round in 0..6 {
        let ask = async |number: usize| {
            let caller = signed_in(&app, &ada, &address(number));
            let answer = if number.is_multiple_of(2) {
                invite(&caller, &team, &stranger(number)).await
            } else {
                verify(&caller, &stranger(number), json!({})).await
            };
            assert!([200, 429].contains(&answer.status()), "{}", answer.text());
            usize::from(answer.status() == 200)
        };
        sent += futures_util::future::join_all((round * 10..round * 10 + 10).map(ask)).await.into_iter().sum::<usize>();
    }
    assert_eq!((sent, mailed(&app, 60).await), (30, 30));
    let other = app.sign_in_by_mail("bob@example.com").await;
    assert_eq!(verify(&app.signed_in(&other), "bob@work.example", json!({})).await.status(), 200);
}

#[tokio::test]
async fn an_address_that_replaces_the_one_of_the_sign_up_is_counted_like_a_sign_up() {
    let app = start().await;
    usual(&app, 20).await;
    let user = app.sign_up("maker@example.com").await;
    let channel = app.signed_in(&user).get(&format!("{CHANNELS}?user_id=me")).await.json()["items"][0]["id"].clone();
    let path = format!("{CHANNELS}/me/{}", channel.as_str().unwrap());
    let mut replaced = 0;
    for number in 0..60 {
        let user = refreshed(&app, &user).await;
        let answer = signed_in(&app, &user, &address(number)).patch(&path, json!({ "value": stranger(number) })).await;
        if answer.status() == 200 {
            // The account's address by now: whoever asks has its owner mailed.
            let reset = json!({ "email": stranger(number), "callback_url": CALLBACK });
            assert_eq!(at(app.client(), &address(number)).post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
            replaced += 1;
        } else {
            assert_required(&answer);
        }
        app.advance(APART);
    }
    assert!((19..=24).contains(&replaced), "{replaced}");
    assert!(app.mails(&stranger(59)).await.is_empty());
}

#[tokio::test]
async fn an_account_tells_nobody_of_changes_whose_address_it_only_named() {
    let app = TestApp::start().await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    for number in 0..4 {
        assert_eq!(nobody.patch("/api/v1/users/me", json!({ "primary_email": stranger(number) })).await.status(), 200);
    }
    assert_eq!(mailed(&app, 4).await, 0);
    // Who signed up with an address still hears of it, whatever is primary by now.
    let ada = app.sign_up("ada@example.com").await;
    for number in 4..6 {
        assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "primary_email": stranger(number) })).await.status(), 200);
    }
    assert_eq!((mailed(&app, 6).await, app.mails("ada@example.com").await.len()), (0, 2));
}

#[tokio::test]
async fn the_usual_user_adds_an_address_and_invites_colleagues_without_a_challenge() {
    for policy in ["when-suspicious", "always"] {
        let app = start().await;
        app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
        let (verified, unverified) = (app.sign_in_by_mail("ada@example.com").await, app.sign_up("bob@example.com").await);
        guard(&app, json!({ "sign_up": policy, "send_sign_in_code": policy })).await;
        for (first, user) in [(0, &verified), (10, &unverified)] {
            let caller = signed_in(&app, user, "203.0.113.7");
            assert_eq!(verify(&caller, &stranger(first), json!({})).await.status(), 200);
            let team = team_of(&caller).await;
            for number in first + 1..first + 4 {
                assert_eq!(invite(&caller, &team, &stranger(number)).await.status(), 200);
            }
        }
        assert_eq!(mailed(&app, 20).await, 8);
    }
}

#[tokio::test]
async fn during_a_flood_the_address_of_the_sign_up_is_verified_without_a_challenge_and_others_are_not() {
    let app = start().await;
    let ada = app.sign_up("ada@example.com").await;
    usual(&app, 1).await;
    for number in 0..2 {
        at(app.client(), &address(number)).post(SEND, code_for(&stranger(number), json!({}))).await;
    }
    let caller = signed_in(&app, &ada, "203.0.113.7");
    let own = json!({ "email": "ada@example.com", "callback_url": CALLBACK });
    assert_eq!(caller.post(&format!("{CHANNELS}/send-verification-code"), own).await.status(), 200);
    assert_required(&verify(&caller, &stranger(2), json!({})).await);
    // Servers are never asked.
    let server = app.server();
    let new = json!({ "user_id": ada.user_id, "value": stranger(3), "type": "email", "used_for_auth": false });
    let channel = server.post(CHANNELS, new).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("{CHANNELS}/{}/{channel}/send-verification-code", ada.user_id);
    assert_eq!(server.post(&path, json!({ "callback_url": CALLBACK })).await.status(), 200);
}

#[tokio::test]
async fn a_project_that_asks_neither_for_sign_ups_nor_for_codes_counts_no_email() {
    let app = TestApp::start_with(Limits::off().with(Rule::ChallengeUsualAddress, Some(Rate::new(1, 3600)))).await;
    guard(&app, json!({ "provider": "altcha", "sign_up": "off", "send_sign_in_code": "off" })).await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    for number in 0..3 {
        assert_eq!(verify(&nobody, &stranger(number), json!({})).await.status(), 200);
    }
}
