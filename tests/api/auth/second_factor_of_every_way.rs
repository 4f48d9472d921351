//! Every way to sign in with a second factor, and every proof that completes it.

use std::collections::HashMap;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::SoftPasskey;
use support::provider::Provider;
use support::stand_in::StandIn;
use support::{Answer, SignedInUser, TestApp};

use super::cli_complete::complete as confirm_tool;
use super::cli_create::start as start_tool;
use super::cli_poll::{fetch, status};
use super::mfa_passkey;
use super::mfa_recovery_codes::{codes, left};
use super::mfa_sign_in::{now_code, sign_in as by_totp, user_with_app};
use super::oauth_apple_native::{claims, sign_in as by_apple};
use super::oauth_callback::{ada, exchange, flow, parameter};
use super::{assert_error, opens_own_data};

const ADA: &str = "ada@example.com";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Password,
    Mail,
    Provider,
    Apple,
    Passkey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    App,
    RecoveryCode,
    /// A recovery code in the field for the code of the app.
    RecoveryCodeAsTotp,
    Passkey,
}

/// An account with every way to sign in, and the data needed to complete each sign-in.
struct World {
    app: TestApp,
    provider: Provider,
    apple: StandIn,
    ada: SignedInUser,
    passkey: SoftPasskey,
    codes: Vec<String>,
}

impl World {
    async fn new() -> Self {
        let (provider, apple) = (Provider::start().await, StandIn::start("apple", HashMap::new()).await);
        let app = TestApp::start_at(&apple).await;
        let mut settings = apple.setting();
        settings["apple_bundle_ids"] = json!(["com.example.app"]);
        let providers = json!([provider.setting(), settings]);
        app.configure(json!({ "config": { "passkey_enabled": true, "oauth_providers": providers } })).await;
        let ada = user_with_app(&app, ADA).await;
        // The address is verified at the providers and in the project, so the provider accounts are
        // linked to this account.
        let path = format!("/api/v1/users/{}", ada.user_id);
        assert_eq!(app.server().patch(&path, json!({ "primary_email_verified": true })).await.status(), 200);
        let (passkey, codes) = (app.add_passkey(&ada, 1).await, codes(&app, &ada).await);
        Self { app, provider, apple, ada, passkey, codes }
    }

    /// Proves the first factor.
    async fn first(&self, way: Way) -> Answer {
        let app = &self.app;
        match way {
            Way::Password => {
                app.client().post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": "correct horse battery" })).await
            }
            Way::Mail => app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code(ADA).await })).await,
            Way::Provider => exchange(app, &parameter(&flow(app, &self.provider, ada(), &[]).await, "code")).await,
            Way::Apple => by_apple(app, &self.apple, &claims(app, "001.a")).await,
            Way::Passkey => app.sign_in_with(&self.passkey).await,
        }
    }

    /// Proves the second factor.
    async fn second(&mut self, proof: Proof, attempt: &str) -> Answer {
        let app = &self.app;
        match proof {
            Proof::App => by_totp(app, attempt, &now_code(app)).await,
            Proof::RecoveryCodeAsTotp => by_totp(app, attempt, &self.codes.pop().unwrap()).await,
            Proof::RecoveryCode => {
                let body = json!({ "code": attempt, "type": "recovery-code", "recovery_code": self.codes.pop().unwrap() });
                app.client().post("/api/v1/auth/mfa/sign-in", body).await
            }
            Proof::Passkey => mfa_passkey::complete(app, attempt, &self.passkey).await,
        }
    }

    async fn sessions(&self) -> usize {
        let path = format!("/api/v1/auth/sessions?user_id={}", self.ada.user_id);
        self.app.server().get(&path).await.json()["items"].as_array().unwrap().len()
    }

    /// The number of linked provider accounts.
    async fn accounts(&self) -> usize {
        let user = self.app.server().get(&format!("/api/v1/users/{}", self.ada.user_id)).await.json();
        user["oauth_providers"].as_array().unwrap().len()
    }

    /// The number of provider accounts with stored tokens for apps.
    fn tokens(&self) -> usize {
        self.app.table().into_keys().filter(|(_, sk)| sk.starts_with("PROVIDER#")).count()
    }

    /// The method of the newest sign-in in the audit log.
    async fn method(&self) -> Value {
        let path = format!("/api/v1/internal/audit-log?user_id={}", self.ada.user_id);
        let log = self.app.admin().get(&path).await.json();
        let entries = log["items"].as_array().unwrap();
        entries.iter().find(|entry| entry["events"].as_array().unwrap().contains(&json!("sign-in"))).unwrap()["method"].clone()
    }
}

/// The authentication methods of a session (RFC 8176).
fn methods(way: Way, proof: Proof) -> Value {
    let first = match way {
        Way::Password => "pwd",
        Way::Mail => "otp",
        Way::Provider | Way::Apple => "fed",
        Way::Passkey => "pop",
    };
    json!([first, if proof == Proof::Passkey { "pop" } else { "otp" }, "mfa"])
}

async fn walk(world: &mut World, way: Way, proof: Proof) {
    // Each code from the app works only once, and log entries are ordered by time.
    world.app.advance(SignedDuration::from_secs(30));
    let before = world.sessions().await;
    let details = assert_error(&world.first(way).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    assert_eq!(world.sessions().await, before, "{way:?}: the first factor starts no session");
    let has = [("totp", true), ("recovery-code", !world.codes.is_empty()), ("passkey", way != Way::Passkey)];
    let factors: Vec<&str> = has.iter().filter(|(_, has)| *has).map(|(name, _)| *name).collect();
    assert_eq!(details["factors"], json!(factors), "{way:?} and {proof:?}");
    let attempt = details["attempt_code"].as_str().unwrap().to_owned();
    assert_error(&by_totp(&world.app, &attempt, "nonsense").await, 400, "INVALID_TOTP_CODE");

    let answer = world.second(proof, &attempt).await;
    if (way, proof) == (Way::Passkey, Proof::Passkey) {
        assert_error(&answer, 400, "PASSKEY_AUTHENTICATION_FAILED");
        assert_eq!(world.sessions().await, before, "one passkey is not both factors");
        return;
    }
    assert_eq!(answer.status(), 200, "{way:?} and {proof:?}: {}", answer.text());
    assert_eq!((&answer.json()["user_id"], &answer.json()["is_new_user"]), (&json!(world.ada.user_id), &json!(false)));
    let session = SignedInUser::of(ADA, &answer.json());
    assert!(opens_own_data(&world.app, &session).await);
    assert_eq!(world.sessions().await, before + 1, "{way:?} and {proof:?}");
    assert_eq!(world.method().await, methods(way, proof), "{way:?} and {proof:?}");
    assert_error(&by_totp(&world.app, &attempt, &now_code(&world.app)).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    assert_eq!(left(&world.app, &session).await, world.codes.len(), "{way:?} and {proof:?}");

    // A session with both factors confirms the sign-in of a tool. The attempt code alone does not
    // confirm it.
    let (polling, login) = start_tool(&world.app, json!({})).await;
    assert_error(&confirm_tool(&world.app, &login, &attempt).await, 400, "INVALID_REFRESH_TOKEN");
    assert_eq!(status(&world.app, &polling).await, "waiting");
    assert_eq!(confirm_tool(&world.app, &login, &session.refresh_token).await.status(), 200);
    let tool = fetch(&world.app, &polling).await;
    assert_eq!(world.app.signed_in(&tool).get("/api/v1/users/me").await.json()["id"], json!(world.ada.user_id));
}

/// If the account were linked earlier, someone who controls the address could add a provider
/// account as another first factor.
#[tokio::test]
async fn an_account_found_by_its_address_is_linked_after_the_second_factor() {
    let waits = |world: &World| world.app.table().values().any(|item| item["d"]["M"]["to_attach"].is_object());
    for (way, proof) in [
        (Way::Provider, Proof::App),
        (Way::Provider, Proof::RecoveryCode),
        (Way::Provider, Proof::Passkey),
        (Way::Apple, Proof::App),
        (Way::Apple, Proof::Passkey),
    ] {
        let mut world = World::new().await;
        let details = assert_error(&world.first(way).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
        assert!(world.accounts().await == 0 && world.tokens() == 0 && waits(&world), "{way:?}");
        let completed = world.second(proof, details["attempt_code"].as_str().unwrap()).await;
        assert_eq!(completed.status(), 200, "{way:?} {proof:?}: {}", completed.text());
        // The native sign-in does not store tokens for apps.
        assert_eq!((world.accounts().await, world.tokens()), (1, usize::from(way == Way::Provider)), "{way:?} {proof:?}");
        assert!(!waits(&world), "the attempt keeps no tokens");
    }
}

#[tokio::test]
async fn an_account_is_not_linked_if_the_address_goes_before_the_second_factor() {
    let mut world = World::new().await;
    let details = assert_error(&world.first(Way::Provider).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let path = format!("/api/v1/users/{}", world.ada.user_id);
    assert_eq!(world.app.server().patch(&path, json!({ "primary_email_verified": false })).await.status(), 200);
    let completed = world.second(Proof::App, details["attempt_code"].as_str().unwrap()).await;
    assert_eq!(completed.status(), 200, "{}", completed.text());
    assert_eq!((world.accounts().await, world.tokens()), (0, 0));
}

#[tokio::test]
async fn every_way_to_sign_in_asks_for_a_second_factor_and_takes_each() {
    let mut world = World::new().await;
    // The ten recovery codes are enough for five ways to sign in that use two codes each.
    for way in [Way::Password, Way::Mail, Way::Provider, Way::Apple, Way::Passkey] {
        for proof in [Proof::App, Proof::RecoveryCode, Proof::RecoveryCodeAsTotp, Proof::Passkey] {
            walk(&mut world, way, proof).await;
        }
    }
}
