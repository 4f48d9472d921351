//! Proves an address for the first time by every method, in accounts with different earlier
//! credentials. Afterwards, no earlier credential opens the account, the owner can sign in with the
//! method of the proof, and the address has received a notice. [`super::first_proof`] tests
//! accounts that have all credentials at once.

use Prior::{Address, Authenticator, Named, Password, ProviderAccount, ProviderSignUp, ServerAccount};
use Proof::{Provided, Reset, SignInLink, SignInTyped};
use std::sync::Arc;

use model::limit::Limits;
use serde_json::{Value, json};
use support::provider::Provider;
use support::{SignedInUser, Snapshot, TestApp};

use super::{CALLBACK, NEW, PASSWORD, added, addresses, otp_sign_in, password_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
const ME: &str = "/api/v1/users/me";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const STRATEGIES: [&str; 3] = ["link_method", "raise_error", "allow_duplicates"];

/// A credential that exists before the proof, or how the account was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prior {
    /// The account has only its original password. All other accounts also have a password, except
    /// the account of [`ProviderSignUp`].
    Password,
    /// A second address, which is verified.
    Address,
    /// A second address that is waiting to be verified.
    Named,
    ProviderAccount,
    Authenticator,
    /// The account was created by a provider that does not vouch for the address.
    ProviderSignUp,
    /// The account was created by a server, with a password.
    ServerAccount,
}

const PRIORS: [Prior; 7] = [Password, Address, Named, ProviderAccount, Authenticator, ProviderSignUp, ServerAccount];

/// The method that the address's owner uses to prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Reset,
    SignInLink,
    SignInTyped,
    /// Sign-in with a provider that vouches for the address, and the merge strategy `link_method`.
    Provided,
}

const PROOFS: [Proof; 4] = [Reset, SignInLink, SignInTyped, Provided];

/// An account that another person created with the address [`ADA`].
struct SquattedAccount {
    app: TestApp,
    provider: Arc<Provider>,
    eve: SignedInUser,
    /// A code for the pending address. `None` if no address is pending.
    verification: Option<String>,
}

/// A snapshot of a squatted account, so that several proofs can start from it.
struct AccountSnapshot {
    snapshot: Snapshot,
    provider: Arc<Provider>,
    eve: SignedInUser,
    verification: Option<String>,
}

impl AccountSnapshot {
    async fn begin(&self) -> SquattedAccount {
        let app = TestApp::start_from(&self.snapshot, Limits::off()).await;
        SquattedAccount { app, provider: Arc::clone(&self.provider), eve: self.eve.clone(), verification: self.verification.clone() }
    }
}

/// The claims of the intruder's provider account.
fn eves(email: &str) -> Value {
    json!({ "sub": "acme|666", "email": email, "email_verified": false })
}

/// The claims of the owner's provider account. The provider may or may not vouch for the address.
fn adas(email_verified: bool) -> Value {
    json!({ "sub": "acme|1", "email": ADA, "email_verified": email_verified })
}

async fn squat(prior: Prior) -> SquattedAccount {
    let (app, provider) = oauth_callback::start().await;
    let eve = match prior {
        ProviderSignUp => oauth_callback::sign_in(&app, &provider, eves(ADA)).await.0,
        ServerAccount => {
            let body = json!({ "primary_email": ADA, "primary_email_auth_enabled": true, "password": PASSWORD });
            assert_eq!(app.server().post("/api/v1/users", body).await.status(), 201);
            app.sign_in(ADA).await
        }
        _ => app.sign_up(ADA).await,
    };
    let mut verification = None;
    match prior {
        Address | Named => {
            let channel = added(&app, &eve, EVE).await;
            let code = verification_code(&app, &eve, &channel, EVE).await;
            if prior == Named {
                verification = Some(code);
            } else {
                assert_eq!(verify(&app, &code).await.status(), 200);
            }
        }
        ProviderAccount => {
            let link = [("type", "link"), ("token", eve.access_token.as_str())];
            let linked = exchange(&app, &parameter(&flow(&app, &provider, eves("eve@provider.example"), &link).await, "code")).await;
            assert_eq!(linked.status(), 200, "{}", linked.text());
        }
        Authenticator => {
            assert_eq!(app.signed_in(&eve).patch(ME, json!({ "totp_secret_base64": SECRET })).await.status(), 200);
        }
        Password | ProviderSignUp | ServerAccount => {}
    }
    SquattedAccount { app, provider: Arc::new(provider), eve, verification }
}

async fn merge_by(app: &TestApp, provider: &Provider, strategy: &str) {
    let setting = json!({ "oauth_providers": [provider.setting()], "oauth_account_merge_strategy": strategy });
    app.configure(json!({ "config": setting })).await;
}

impl SquattedAccount {
    fn kept(self) -> AccountSnapshot {
        AccountSnapshot { snapshot: self.app.snapshot(), provider: self.provider, eve: self.eve, verification: self.verification }
    }

    /// The owner proves the address. Returns the owner's session.
    async fn prove(&self, proof: Proof) -> SignedInUser {
        let (app, provider) = (&self.app, &self.provider);
        let of = |answer: support::Answer| {
            assert_eq!(answer.status(), 200, "{proof:?}: {}", answer.text());
            SignedInUser::of(ADA, &answer.json())
        };
        match proof {
            Reset => {
                assert_eq!(reset(app, &reset_code(app, ADA).await).await.status(), 200);
                of(password_sign_in(app, ADA, NEW).await)
            }
            SignInLink => of(otp_sign_in(app, &app.sign_in_code(ADA).await).await),
            SignInTyped => {
                let body = json!({ "email": ADA, "callback_url": CALLBACK });
                let sent = app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.json();
                let typed = app.last_mail(ADA).await.code()[..6].to_uppercase();
                of(otp_sign_in(app, &format!("{typed}{}", sent["nonce"].as_str().unwrap())).await)
            }
            Provided => oauth_callback::sign_in(app, provider, adas(true)).await.0,
        }
    }

    /// Only the owner's credentials can be used to sign in.
    async fn assert_owned(&self, proof: Proof, what: &str) {
        let (app, id) = (&self.app, self.eve.user_id.as_str());
        assert_eq!(addresses(app, id).await, [(ADA.to_owned(), true)], "{what}");
        let account = user(app, id).await;
        let state = ["has_password", "requires_totp_mfa", "otp_auth_enabled"].map(|field| account[field] == true);
        assert_eq!(state, [proof == Reset, false, [SignInLink, SignInTyped].contains(&proof)], "{what}");
        let accounts: Vec<&Value> = account["oauth_providers"].as_array().unwrap().iter().map(|account| &account["account_id"]).collect();
        let expected: &[&str] = if proof == Provided { &["acme|1"] } else { &[] };
        assert_eq!(accounts, expected, "{what}");
    }

    /// No earlier credential opens the account.
    async fn assert_shut(&self, what: &str) {
        let Self { app, provider, eve, verification } = self;
        assert_error(&app.signed_in(eve).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
        assert_error(&app.signed_in(eve).patch(ME, json!({ "display_name": "Eve" })).await, 401, "ACCESS_TOKEN_EXPIRED");
        let refresh = app.signed_in(eve).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
        assert_error(&refresh, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        for address in [ADA, EVE] {
            assert_error(&password_sign_in(app, address, PASSWORD).await, 400, "EMAIL_PASSWORD_MISMATCH");
        }
        if let Some(code) = verification {
            assert_error(&verify(app, code).await, 404, "VERIFICATION_CODE_NOT_FOUND");
        }
        assert_ne!(app.sign_in_by_mail(EVE).await.user_id, eve.user_id, "{what}");
        // The intruder's provider account does not sign in to the owner's account.
        let url = flow(app, provider, eves("eve@provider.example"), &[]).await;
        let code = parameter(&url, "code");
        let elsewhere = exchange(app, &code).await;
        assert_eq!(elsewhere.status(), 200, "{what}: {}", elsewhere.text());
        let me = app.client().with("x-stack-access-token", elsewhere.json()["access_token"].as_str().unwrap()).get(ME).await.json();
        assert_ne!(me["id"], eve.user_id.as_str(), "{what}");
    }
}

#[tokio::test]
async fn the_first_proof_of_an_address_takes_the_account_exclusively() {
    for prior in PRIORS {
        let kept = squat(prior).await.kept();
        for proof in PROOFS {
            let what = format!("{proof:?} for an account with {prior:?}");
            let squatted = kept.begin().await;
            let app = &squatted.app;
            let ada = squatted.prove(proof).await;
            assert_eq!(ada.user_id, squatted.eve.user_id, "{what}");
            squatted.assert_owned(proof, &what).await;
            let told = app.mails(ADA).await.into_iter().filter(|mail| mail.0.text.starts_with("This account is now yours")).count();
            assert_eq!(told, 1, "{what}");
            squatted.assert_shut(&what).await;
            // The proving method signs the owner in again, without the intruder's second factor.
            assert_eq!(app.signed_in(&ada).get(ME).await.status(), 200, "{what}");
            let again = match proof {
                Reset => SignedInUser::of(ADA, &password_sign_in(app, ADA, NEW).await.json()),
                SignInLink | SignInTyped => app.sign_in_by_mail(ADA).await,
                Provided => oauth_callback::sign_in(app, &squatted.provider, adas(true)).await.0,
            };
            assert_eq!(again.user_id, ada.user_id, "{what}");
            squatted.assert_owned(proof, &what).await;
        }
    }
}

/// With the other strategies, a provider that vouches for an account's address does not give the
/// account a new owner. An account whose address was never proved keeps its password.
#[tokio::test]
async fn only_link_method_hands_an_account_over() {
    for prior in PRIORS {
        let kept = squat(prior).await.kept();
        for strategy in ["raise_error", "allow_duplicates"] {
            let what = format!("{strategy}, {prior:?}");
            let squatted = kept.begin().await;
            let SquattedAccount { app, provider, eve, .. } = &squatted;
            merge_by(app, provider, strategy).await;
            let before = user(app, &eve.user_id).await;
            let url = flow(app, provider, adas(true), &[]).await;
            if strategy == "raise_error" {
                assert_eq!(oauth_callback::error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE", "{what}");
            } else {
                let answer = exchange(app, &parameter(&url, "code")).await.json();
                let me = app.client().with("x-stack-access-token", answer["access_token"].as_str().unwrap()).get(ME).await.json();
                assert_ne!(me["id"], eve.user_id.as_str(), "{what}");
                assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&json!(ADA), &json!(true)), "{what}");
                assert_eq!(user(app, me["id"].as_str().unwrap()).await["primary_email_auth_enabled"], false, "{what}");
                assert_eq!(oauth_callback::sign_in(app, provider, adas(true)).await.1["id"], me["id"], "{what}");
            }
            assert_eq!(user(app, &eve.user_id).await, before, "{what}");
            assert_eq!(app.signed_in(eve).get(ME).await.status(), 200, "{what}");
            assert!(app.mails(ADA).await.iter().all(|mail| !mail.0.text.starts_with("This account is now yours")), "{what}");
        }
    }
}

/// With every merge strategy, a provider that does not vouch for the address proves nothing and
/// does not open the account.
#[tokio::test]
async fn claiming_an_address_without_proof_takes_no_account() {
    for prior in PRIORS {
        let kept = squat(prior).await.kept();
        for strategy in STRATEGIES {
            let what = format!("{strategy}, {prior:?}");
            let squatted = kept.begin().await;
            let SquattedAccount { app, provider, eve, .. } = &squatted;
            merge_by(app, provider, strategy).await;
            let before = user(app, &eve.user_id).await;
            let url = flow(app, provider, adas(false), &[]).await;
            if strategy == "allow_duplicates" {
                let answer = exchange(app, &parameter(&url, "code")).await.json();
                let me = app.client().with("x-stack-access-token", answer["access_token"].as_str().unwrap()).get(ME).await.json();
                assert_ne!(me["id"], eve.user_id.as_str(), "{what}");
                assert_eq!((&me["primary_email_verified"], &me["auth_with_email"]), (&json!(false), &json!(false)), "{what}");
            } else {
                assert_eq!(oauth_callback::error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE", "{what}");
            }
            assert_eq!(user(app, &eve.user_id).await, before, "{what}");
            assert_eq!(app.signed_in(eve).get(ME).await.status(), 200, "{what}");
            // The owner can still prove the address.
            assert_eq!(squatted.prove(SignInLink).await.user_id, eve.user_id, "{what}");
            squatted.assert_owned(SignInLink, &what).await;
        }
    }
}

/// Once an address is proved, a sign-in with a provider that vouches for it follows the merge
/// strategy. The account keeps all its credentials.
#[tokio::test]
async fn a_proved_address_cannot_be_taken_over() {
    let kept = squat(Address).await.kept();
    for strategy in STRATEGIES {
        let squatted = kept.begin().await;
        let SquattedAccount { app, provider, eve: ada, .. } = &squatted;
        super::change(app, &ada.user_id, json!({ "primary_email_verified": true })).await;
        merge_by(app, provider, strategy).await;
        let url = flow(app, provider, adas(true), &[]).await;
        match strategy {
            "raise_error" => {
                assert_eq!(oauth_callback::error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
            }
            strategy => {
                let answer = exchange(app, &parameter(&url, "code")).await.json();
                let me = app.client().with("x-stack-access-token", answer["access_token"].as_str().unwrap()).get(ME).await.json();
                assert_eq!(me["id"] == ada.user_id.as_str(), strategy == "link_method", "{strategy}");
            }
        }
        assert_eq!(app.signed_in(ada).get(ME).await.status(), 200, "{strategy}");
        assert_eq!(app.sign_in(ADA).await.user_id, ada.user_id, "{strategy}");
        assert_eq!(addresses(app, &ada.user_id).await.len(), 2, "{strategy}");
    }
}
