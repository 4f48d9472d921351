//! The owner of an address proves it while the creator of the account concurrently changes the
//! account or signs in again.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, Caller, SignedIn, TestApp};

use super::{CHANNELS, NEW, PASSWORD, added, addresses, password_sign_in, reset_code, user, verification_code};
use crate::auth::oauth_callback::{self, TOKEN, exchange_of, landed, parameter};

const ROUNDS: usize = 200;
/// Of this many consecutive rounds, one proves the address by a provider, which takes longer; the
/// others prove it by a code.
const PROOFS: usize = 9;
const INTERFERENCES: usize = 9;
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const ATTACKERS: &str = "the attacker's battery";

/// The creator's concurrent action. `code` verifies another address of the creator; only the last
/// action needs it.
async fn interfere(own: Caller, email: String, number: usize, code: Option<String>) -> Answer {
    let other = format!("eve{number}@example.com");
    match number / PROOFS % INTERFERENCES {
        0 => own.post("/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": ATTACKERS })).await,
        1 => own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await,
        2 => own.post(CHANNELS, json!({ "user_id": "me", "value": other, "type": "email", "used_for_auth": true })).await,
        3 => own.patch("/api/v1/users/me", json!({ "primary_email": other })).await,
        4 => own.without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await,
        5 => own.delete("/api/v1/auth/sessions?user_id=me").await,
        6 => own.patch("/api/v1/users/me", json!({ "otp_auth_enabled": false })).await,
        7 => {
            let stranger = own.without("x-stack-access-token");
            stranger.post("/api/v1/auth/password/sign-in", json!({ "email": email, "password": PASSWORD })).await
        }
        _ => own.without("x-stack-access-token").post("/api/v1/contact-channels/verify", json!({ "code": code })).await,
    }
}

fn takes_code(number: usize) -> bool {
    number / PROOFS % INTERFERENCES == INTERFERENCES - 1
}

/// A proof that is ready except for its last requests.
enum Proof {
    Posted(&'static str, Value),
    /// The provider's redirect back to the service, and the exchange that follows it.
    Provided {
        code: String,
        state: String,
        exchange: Value,
    },
}

impl Proof {
    async fn of(app: &TestApp, provider: &Provider, email: &str, number: usize) -> Self {
        match number % PROOFS {
            0 | 2 | 4 | 6 => Self::Posted("/api/v1/auth/password/reset", json!({ "code": reset_code(app, email).await, "password": NEW })),
            1 | 3 | 5 | 7 => Self::Posted("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code(email).await })),
            _ => {
                let account = json!({ "sub": format!("acme|{number}"), "email": email, "email_verified": true });
                let (code, state) = provider.allow(app, &oauth_callback::begin(app, &[]).await, account);
                Self::Provided { code, state, exchange: exchange_of(app, "") }
            }
        }
    }

    /// Sends the last requests, as a caller without a session; returns the last answer.
    async fn send(self, stranger: Caller) -> Answer {
        match self {
            Self::Posted(path, body) => stranger.post(path, body).await,
            Self::Provided { code, state, mut exchange } => {
                let query =
                    url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
                let back = landed(&stranger.get(&format!("/api/v1/auth/oauth/callback/acme?{query}")).await);
                exchange["code"] = parameter(&back, "code").into();
                stranger.post(TOKEN, exchange).await
            }
        }
    }
}

/// One round, with the address `ada<number>@example.com`.
async fn round(app: &TestApp, provider: &Provider, number: usize) {
    let email = format!("ada{number}@example.com");
    let eve: SignedIn = app.sign_up(&email).await;
    let code = if takes_code(number) {
        let address = format!("eve{number}@example.com");
        let channel = added(app, &eve, &address).await;
        Some(verification_code(app, &eve, &channel, &address).await)
    } else {
        None
    };
    let proof = Proof::of(app, provider, &email, number).await;
    let stranger = if matches!(proof, Proof::Posted(..)) { app.client() } else { app.anonymous() };
    let (own, address) = (app.signed_in(&eve), email.clone());
    let proof = tokio::spawn(proof.send(stranger));
    let interference = tokio::spawn(interfere(own, address, number, code));
    let (proof, interference) = (proof.await.unwrap(), interference.await.unwrap());
    assert!([200, 201, 400, 401, 404].contains(&interference.status()), "{number}: {}", interference.text());
    if proof.status() != 200 {
        // The creator's change came first, and invalidated the code or disabled codes. The failed
        // proof changed nothing, and the next one succeeds.
        let refusals = ["VERIFICATION_CODE_NOT_FOUND", "MAGIC_LINK_NOT_ENABLED", "INVALID_AUTHORIZATION_CODE"];
        assert!(refusals.contains(&proof.code().as_str()), "{number}: {}", proof.text());
        let code = reset_code(app, &email).await;
        assert_eq!(app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await.status(), 200);
    }
    assert_is_the_owners(app, &eve, &email, &interference, number).await;
}

async fn assert_is_the_owners(app: &TestApp, eve: &SignedIn, email: &str, interference: &Answer, number: usize) {
    assert_eq!(addresses(app, &eve.user_id).await, [(email.to_owned(), true)], "{number}");
    let account = user(app, &eve.user_id).await;
    assert_eq!(account["requires_totp_mfa"], false, "{number}");
    for password in [PASSWORD, ATTACKERS] {
        assert_eq!(password_sign_in(app, email, password).await.status(), 400, "{number}");
    }
    assert_eq!(app.signed_in(eve).get("/api/v1/users/me").await.status(), 401, "{number}");
    let refresh = app.signed_in(eve).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refresh.status(), 401, "{number}");
    // A token that the creator obtained at the same time does not open the account either.
    if let Some(token) = interference.json()["access_token"].as_str() {
        assert_eq!(app.client().with("x-stack-access-token", token).get("/api/v1/users/me").await.status(), 401, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proof_wins_the_account_over_a_concurrent_creator() {
    let (app, provider) = oauth_callback::start().await;
    for number in 0..ROUNDS {
        round(&app, &provider, number).await;
    }
}
