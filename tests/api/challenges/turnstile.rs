//! Cloudflare Turnstile, with valid, wrong and used tokens, tokens of a different site, and
//! failures of Cloudflare.

use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::TestApp;
use support::turnstile::{Misbehaviour, SECRET_KEY, SITE_KEY, Turnstile};
use tokio::time::{Duration, Instant};

use super::*;
use crate::auth::oauth_authorize::{authorize, parameters_with};

const ACTION: &str = "sign_up_with_credential";

/// A project that requires a token for every sign-up, and the stand-in for Turnstile.
async fn start() -> (TestApp, Turnstile) {
    start_with(Limits::off(), json!({ "sign_up": "always", "send_sign_in_code": "off", "oauth": "off" })).await
}

async fn start_with(limits: Limits, policies: Value) -> (TestApp, Turnstile) {
    let cloudflare = Turnstile::start().await;
    let app = TestApp::start_with(limits).await.redeployed(|settings| settings.provider_stand_in = Some(cloudflare.url.clone()));
    guard(&app, with(json!({ "provider": "turnstile", "site_key": SITE_KEY, "secret_key": SECRET_KEY }), policies)).await;
    (app, cloudflare)
}

fn visible(token: &str) -> Value {
    json!({ "bot_challenge_token": token, "bot_challenge_phase": "visible" })
}

fn invisible(token: &str) -> Value {
    json!({ "bot_challenge_token": token, "bot_challenge_phase": "invisible" })
}

async fn is_nobody(app: &TestApp) -> bool {
    app.server().get("/api/v1/users").await.json()["items"] == json!([])
}

#[tokio::test]
async fn a_solved_turnstile_challenge_allows_a_sign_up() {
    let (app, cloudflare) = start().await;
    let answer = app.client().post(SIGN_UP, account_of("ada@example.com", invisible(&cloudflare.solve(&app, ACTION, json!({}))))).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let asked = cloudflare.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0]["secret"].as_str(), asked[0]["response"].as_str()), (SECRET_KEY, "0.token-1"));
    assert!(uuid::Uuid::parse_str(&asked[0]["idempotency_key"]).is_ok() && !asked[0].contains_key("remoteip"), "{asked:?}");
    let token = cloudflare.solve(&app, ACTION, json!({}));
    assert_eq!(app.client().post(SIGN_UP, account_of("bob@example.com", visible(&token))).await.status(), 200);
}

#[tokio::test]
async fn a_missing_token_is_rejected_before_any_hashing_or_email() {
    let (app, cloudflare) = start().await;
    let link = json!({ "verification_callback_url": "http://localhost:3000/verify" });
    assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", link)).await);
    for nothing in [json!({ "bot_challenge_token": "" }), json!({ "bot_challenge_token": " ", "bot_challenge_phase": "invisible" })] {
        assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", nothing)).await);
    }
    assert!(is_nobody(&app).await && app.mails("ada@example.com").await.is_empty() && cloudflare.asked().is_empty());
}

#[tokio::test]
async fn a_wrong_token_leads_to_a_visible_challenge_and_then_fails() {
    let (app, cloudflare) = start().await;
    let used = cloudflare.solve(&app, ACTION, json!({}));
    assert_eq!(app.client().post(SIGN_UP, account_of("ada@example.com", invisible(&used))).await.status(), 200);
    let wrong = [
        "nonsense".to_owned(),
        used,
        "x".repeat(2049),
        cloudflare.solve(&app, ACTION, json!({ "hostname": "evil.example" })),
        cloudflare.solve(&app, ACTION, json!({ "hostname": "localhost.evil.example" })),
        cloudflare.solve(&app, "send_magic_link_email", json!({})),
        cloudflare.solve(&app, ACTION, json!({ "action": null })),
        cloudflare.solve(&app, ACTION, json!({ "challenge_ts": "2026-01-01T11:54:59Z" })),
        cloudflare.solve(&app, ACTION, json!({ "challenge_ts": "tomorrow" })),
    ];
    for token in wrong {
        // The response for the last token contains an invalid time, which does not show whether the
        // token is valid.
        let is_judged = token != "0.token-7";
        let first = app.client().post(SIGN_UP, account_of("bob@example.com", invisible(&token))).await;
        if is_judged {
            assert_required(&first);
        } else {
            assert_failed(&first);
        }
        assert_failed(&app.client().post(SIGN_UP, account_of("bob@example.com", visible(&token))).await);
    }
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_token_without_a_phase_counts_as_invisible() {
    let (app, _cloudflare) = start().await;
    assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", json!({ "bot_challenge_token": "nonsense" }))).await);
}

#[tokio::test]
async fn of_two_concurrent_requests_with_a_token_one_succeeds() {
    let (app, cloudflare) = start().await;
    let token = cloudflare.solve(&app, ACTION, json!({}));
    let client = app.client();
    let (first, second) = tokio::join!(
        client.post(SIGN_UP, account_of("ada@example.com", visible(&token))),
        client.post(SIGN_UP, account_of("bob@example.com", visible(&token))),
    );
    let mut statuses = [first.status(), second.status()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[tokio::test]
async fn if_always_required_an_unavailable_provider_admits_nobody() {
    use Misbehaviour::*;
    let (app, cloudflare) = start().await;
    for fault in [Down, Silent, Garbage, Redirects, UnknownSecret, InternalError] {
        cloudflare.misbehave(Some(fault));
        let token = cloudflare.solve(&app, ACTION, json!({}));
        let asked = async {
            cloudflare.is_asked().await;
            Instant::now()
        };
        let client = app.client();
        let (answer, asked) = tokio::join!(client.post(SIGN_UP, account_of("ada@example.com", invisible(&token))), asked);
        if fault == Silent {
            assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
        }
        let message = assert_failed(&answer);
        assert!(message.contains("try again"), "{fault:?}: {message}");
        assert_eq!(cloudflare.asked().len(), 1, "{fault:?}");
    }
    let unavailable = json!({ "bot_challenge_unavailable": "true" });
    assert_failed(&app.client().post(SIGN_UP, account_of("ada@example.com", unavailable)).await);
    assert!(is_nobody(&app).await);
    // Once Cloudflare works again, a sign-up succeeds.
    cloudflare.misbehave(None);
    let token = cloudflare.solve(&app, ACTION, json!({}));
    assert_eq!(app.client().post(SIGN_UP, account_of("ada@example.com", visible(&token))).await.status(), 200);
}

#[tokio::test]
async fn if_required_on_suspicion_an_unavailable_provider_admits_a_few() {
    let few = [(Rule::ChallengeUnavailableNetwork, 2), (Rule::ChallengeUnavailableProject, 3)];
    let limits = few.into_iter().fold(Limits::off(), |limits, (rule, quota)| limits.with(rule, Some(Rate::new(quota, 3600))));
    let (app, cloudflare) = start_with(limits, json!({})).await;
    usual(&app, 1).await;
    assert_eq!(app.client().post(SEND, code_for("first@example.com", json!({}))).await.status(), 200);
    cloudflare.misbehave(Some(Misbehaviour::Down));
    let send = async |address: &str, number: usize| {
        let token = cloudflare.solve(&app, "send_magic_link_email", json!({}));
        at(app.client(), address).post(SEND, code_for(&format!("user{number}@example.com"), visible(&token))).await
    };
    let mut passed = Vec::new();
    // The quotas are two requests per network, and three requests in total.
    for (number, address) in ["203.0.113.7", "203.0.113.8", "203.0.113.9", "198.51.100.1", "198.51.101.1"].into_iter().enumerate() {
        let answer = send(address, number).await;
        if answer.status() == 200 {
            passed.push(address);
        } else {
            assert!(assert_failed(&answer).contains("try again"));
        }
    }
    assert_eq!(passed, ["203.0.113.7", "203.0.113.8", "198.51.100.1"]);
    // Requests that claim that the challenge is unavailable are also counted.
    let claimed = code_for("other@example.com", json!({ "bot_challenge_unavailable": "true" }));
    assert_failed(&at(app.client(), "192.0.2.1").post(SEND, claimed).await);
    assert!(app.mails("other@example.com").await.is_empty());
    cloudflare.misbehave(None);
    assert_eq!(send("203.0.113.9", 9).await.status(), 200);
}

#[tokio::test]
async fn an_invalid_request_does_not_consume_its_token() {
    let (app, cloudflare) = start().await;
    let token = cloudflare.solve(&app, ACTION, json!({}));
    let weak = with(account_of("ada@example.com", visible(&token)), json!({ "password": "password1" }));
    assert_eq!(app.client().post(SIGN_UP, weak).await.code(), "PASSWORD_REQUIREMENTS_NOT_MET");
    let untrusted = with(account_of("ada@example.com", visible(&token)), json!({ "verification_callback_url": "https://evil.example" }));
    assert_eq!(app.client().post(SIGN_UP, untrusted).await.code(), "REDIRECT_URL_NOT_WHITELISTED");
    assert_eq!(app.client().post(SIGN_UP, account_of("ada@example.com", visible(&token))).await.status(), 200);
}

#[tokio::test]
async fn servers_need_no_token() {
    let (app, cloudflare) = start().await;
    assert_eq!(app.server().post(SIGN_UP, account_of("ada@example.com", json!({}))).await.status(), 200);
    assert!(cloudflare.asked().is_empty());
}

#[tokio::test]
async fn an_oauth_sign_in_requires_a_token_and_linking_does_not() {
    let (app, cloudflare) = start_with(Limits::off(), json!({ "sign_up": "off", "send_sign_in_code": "off", "oauth": "always" })).await;
    let providers = json!([{ "id": "github", "client_id": "github-client", "client_secret": "github-secret" }]);
    app.configure(json!({ "config": { "oauth_providers": providers } })).await;
    let begin = async |others: &[(&'static str, &str)]| {
        let json_mode = [("stack_response_mode", "json")];
        authorize(&app, "github", &parameters_with(&app, &[others, &json_mode[..]].concat())).await
    };
    assert_required(&begin(&[]).await);
    assert_failed(&begin(&[("bot_challenge_token", "nonsense"), ("bot_challenge_phase", "visible")]).await);
    let token = cloudflare.solve(&app, "oauth_authenticate", json!({}));
    assert_eq!(begin(&[("bot_challenge_token", &token)]).await.status(), 200);
    assert_required(&begin(&[("bot_challenge_token", &token)]).await);
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(begin(&[("type", "link"), ("token", &ada.access_token)]).await.status(), 200);
}
