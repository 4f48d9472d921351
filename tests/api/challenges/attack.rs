//! Floods of requests. One observed flood had two hundred requests per hour, each from a different
//! network and to a random recipient. Normal use does not require a challenge.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use super::*;

/// The interval between the requests of an attack, at 200 per hour.
const APART: SignedDuration = SignedDuration::from_secs(18);
const AN_HOUR: usize = 200;
/// In tests where the number of requests does not matter, the attack is smaller by this factor, and
/// its requests are further apart.
const PART: usize = 5;
const FURTHER_APART: SignedDuration = SignedDuration::from_secs(18 * 5);

/// A service with the limits of a deployment, and a project that requires proof of work from
/// suspicious callers.
async fn start() -> TestApp {
    let app = TestApp::start_with(Limits::standard()).await;
    guard(&app, json!({ "provider": "altcha" })).await;
    app
}

/// An IP address in a different network for each number.
fn address(number: usize) -> String {
    format!("{}.{}.{}.7", 11 + number / 65_536, number / 256 % 256, number % 256)
}

#[tokio::test]
async fn a_flood_from_many_networks_sends_strangers_only_the_usual_number_of_emails() {
    let app = start().await;
    let mut sent = Vec::new();
    for number in 0..2 * AN_HOUR {
        // Half of the requests are sign-ups, and the other half request codes.
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
    // Slightly more requests than the usual 100 per hour are accepted, because one of the counter's
    // windows ends in the first hour, and part of the count expires.
    assert!((100..=110).contains(&sent.len()), "{}", sent.len());
    assert_eq!(sent, (0..sent.len()).collect::<Vec<_>>(), "only the usual number of emails is sent, and then none");
    assert!(app.mails(&format!("stranger{}@example.com", 2 * AN_HOUR - 1)).await.is_empty());
}

#[tokio::test]
async fn a_flood_claiming_an_unavailable_challenge_gets_at_most_ten_emails_an_hour() {
    let app = start().await;
    usual(&app, 20).await;
    let mut sent = 0;
    for number in 0..3 * AN_HOUR / PART {
        let body = code_for(&format!("stranger{number}@example.com"), json!({ "bot_challenge_unavailable": "true" }));
        let answer = at(app.client(), &address(number)).post(SEND, body).await;
        if answer.status() == 200 {
            sent += usize::from(number >= AN_HOUR / PART);
        } else {
            assert_failed(&answer);
        }
        app.advance(FURTHER_APART);
    }
    // `sent` counts the emails of the last two of the three hours. Rejected requests are also
    // counted, so a flood that continues uses up the quota of each window.
    assert!((1..=20).contains(&sent), "{sent}");
}

#[tokio::test]
async fn an_office_behind_one_address_gets_no_challenge() {
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

/// A caller with the session of this user, at this IP address.
fn signed_in(app: &TestApp, user: &SignedInUser, address: &str) -> Caller {
    at(app.signed_in(user).with("x-stack-allow-anonymous-user", "true"), address)
}

/// The same user with a new access token.
async fn refreshed(app: &TestApp, user: &SignedInUser) -> SignedInUser {
    let client = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let answer = client.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    SignedInUser { access_token: answer.json()["access_token"].as_str().unwrap().to_owned(), ..user.clone() }
}

/// Signs up an anonymous user in a project where anonymous users may create everything that other
/// users may.
async fn anonymous(app: &TestApp, address: &str) -> SignedInUser {
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    SignedInUser::of("", &at(app.client(), address).post("/api/v1/auth/anonymous/sign-up", json!({})).await.json())
}

/// Adds an email address to the caller's user, and requests its verification email.
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

/// Creates a team as the caller, and returns the team's id.
async fn team_of(caller: &Caller) -> String {
    let made = caller.post("/api/v1/teams", json!({ "display_name": "Engines" })).await;
    assert_eq!(made.status(), 201, "{}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

/// The number of emails received by the first `count` strangers.
async fn mailed(app: &TestApp, count: usize) -> usize {
    app.send_emails().await;
    (0..count).map(|number| app.sent_to(&stranger(number)).len()).sum()
}

#[tokio::test]
async fn anonymous_users_cannot_email_strangers_without_a_challenge() {
    let app = start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
    for number in 0..60 {
        let address = address(number);
        let nobody = signed_in(&app, &anonymous(&app, &address).await, &address);
        let answer = match number % 3 {
            0 => verify(&nobody, &stranger(number), json!({})).await,
            1 => {
                let refused = invite(&nobody, &team_of(&nobody).await, &stranger(number)).await;
                assert_eq!((refused.status(), refused.code().as_str()), (401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED"));
                continue;
            }
            _ => {
                // Verifying the user's primary address also requires a challenge.
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
async fn an_anonymous_user_can_email_one_address_per_solved_challenge() {
    let app = start().await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    let solved = altcha::visible(&altcha::solved(&altcha::easy(&app)));
    assert_eq!(verify(&nobody, &stranger(0), solved.clone()).await.status(), 200);
    assert_failed(&verify(&nobody, &stranger(1), solved).await);
    assert_failed(&verify(&nobody, &stranger(2), json!({ "bot_challenge_unavailable": "true", "bot_challenge_phase": "visible" })).await);
    assert_eq!(mailed(&app, 3).await, 1);
}

#[tokio::test]
async fn manually_created_accounts_email_no_more_strangers_than_usual() {
    for policy in ["when-suspicious", "always"] {
        let app = TestApp::start_with(Limits::standard()).await;
        // The usual number is 20 instead of 100, because the attack is smaller by the same factor.
        usual(&app, 20).await;
        let mut users = Vec::new();
        for number in 0..20 / PART {
            users.push(app.sign_up(&format!("maker{number}@example.com")).await);
        }
        guard(&app, json!({ "provider": "altcha", "sign_up": policy, "send_sign_in_code": policy })).await;
        let (mut sent, mut refused) = (0, 0);
        for number in 0..2 * AN_HOUR / PART {
            let user = refreshed(&app, &users[number % users.len()]).await;
            let answer = verify(&signed_in(&app, &user, &address(number)), &stranger(number), json!({})).await;
            match answer.status() {
                200 => sent += 1,
                _ => {
                    assert_required(&answer);
                    refused += 1;
                }
            }
            app.advance(FURTHER_APART);
        }
        assert!((20..=24).contains(&sent) && refused > 50, "{policy}: {sent} and {refused}");
        assert_eq!(mailed(&app, 2 * AN_HOUR / PART).await, sent);
    }
}

#[tokio::test]
async fn an_account_can_send_strangers_30_emails_an_hour_from_anywhere() {
    let app = start().await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true, "bot_challenge_usual_requests_per_hour": 1000 } })).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let team = team_of(&app.signed_in(&ada)).await;
    let mut sent = 0;
    // Invitations and verification emails are requested together and concurrently.
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
async fn replacing_the_sign_up_address_counts_as_a_sign_up() {
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
            // The new address now belongs to the account, so anyone can make the service send
            // emails to it.
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
async fn notices_go_to_the_sign_up_address_but_to_no_other_unverified_one() {
    let app = TestApp::start().await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    for number in 0..4 {
        assert_eq!(nobody.patch("/api/v1/users/me", json!({ "primary_email": stranger(number) })).await.status(), 200);
    }
    assert_eq!(mailed(&app, 4).await, 0);
    // The address from the sign-up is still notified, although another address is now primary.
    let ada = app.sign_up("ada@example.com").await;
    for number in 4..6 {
        assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "primary_email": stranger(number) })).await.status(), 200);
    }
    assert_eq!((mailed(&app, 6).await, app.mails("ada@example.com").await.len()), (0, 2));
}

#[tokio::test]
async fn ordinary_users_add_addresses_and_invite_without_a_challenge() {
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
async fn during_a_flood_only_the_sign_up_address_is_verified_unchallenged() {
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
    // Servers never have to solve a challenge.
    let server = app.server();
    let new = json!({ "user_id": ada.user_id, "value": stranger(3), "type": "email", "used_for_auth": false });
    let channel = server.post(CHANNELS, new).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("{CHANNELS}/{}/{channel}/send-verification-code", ada.user_id);
    assert_eq!(server.post(&path, json!({ "callback_url": CALLBACK })).await.status(), 200);
}

#[tokio::test]
async fn a_project_without_sign_up_or_code_challenges_counts_no_emails() {
    let app = TestApp::start_with(Limits::off().with(Rule::ChallengeUsualAddress, Some(Rate::new(1, 3600)))).await;
    guard(&app, json!({ "provider": "altcha", "sign_up": "off", "send_sign_in_code": "off" })).await;
    let nobody = signed_in(&app, &anonymous(&app, "203.0.113.7").await, "203.0.113.7");
    for number in 0..3 {
        assert_eq!(verify(&nobody, &stranger(number), json!({})).await.status(), 200);
    }
}
