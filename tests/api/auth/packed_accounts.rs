//! Accounts that someone has deliberately filled with claims. The owner of the address still gets
//! the account, because the transaction that releases all claims has room for the writes of the
//! sign-in.

use std::collections::HashMap;

use model::email::Email;
use model::provider::account::ProviderAccount;
use model::user::{Channel, MAX_ACCOUNTS, MAX_CHANNELS};
use serde_json::{Value, json};
use support::provider::Provider;
use support::stand_in::StandIn;
use support::{Answer, TestApp};

use super::oauth_apple_native::claims;
use super::oauth_callback::{TOKEN, ada, exchange_of, flow, parameter};
use crate::stored::change_user;

const ADA: &str = "ada@example.com";

/// Fills an account with Ada's unverified address, the maximum number of addresses and provider
/// accounts, and a selected team. Returns the response to the sign-in that proves the address from
/// a new place.
async fn proved(proof: &str) -> (TestApp, Answer) {
    let (provider, apple) = (Provider::start().await, StandIn::start("apple", HashMap::new()).await);
    let app = TestApp::start_at(&apple).await;
    let mut apples = apple.setting();
    apples["apple_bundle_ids"] = json!(["com.example.app"]);
    let config = json!({ "oauth_providers": [provider.setting(), apples], "create_team_on_sign_up": true, "new_sign_in_mails": true });
    app.configure(json!({ "config": config })).await;
    let eve = app.sign_up(ADA).await;
    let entropy = &app.app.entropy;
    change_user(&app, &eve, |user| {
        let own = user.channels[0].clone();
        let more = (1..MAX_CHANNELS).map(|number| {
            let value = Email::parse(&format!("eve{number}@example.com")).unwrap();
            Channel { id: entropy.uuid().into(), value, is_verified: true, is_primary: false, ..own.clone() }
        });
        user.channels.extend(more);
        user.provider_accounts.extend((0..MAX_ACCOUNTS).map(|number| ProviderAccount {
            id: entropy.uuid().into(),
            provider_id: "acme".to_owned(),
            issuer: None,
            account_id: format!("eve|{number}"),
            email: None,
            allow_sign_in: true,
            allow_connected_accounts: true,
        }));
        assert!(user.selected_team_id.is_some());
    })
    .await;
    let from = |caller: support::Caller| caller.with("cloudfront-viewer-address", "198.51.100.1:4711");
    let answer = match proof {
        "provider" => {
            let code = parameter(&flow(&app, &provider, ada(), &[]).await, "code");
            from(app.anonymous()).post(TOKEN, exchange_of(&app, &code)).await
        }
        "apple" => {
            let token = apple.key().sign(&claims(&app, "001.a"));
            from(app.client()).post("/api/v1/auth/oauth/callback/apple/native", json!({ "id_token": token })).await
        }
        _ => {
            let code = app.sign_in_code(ADA).await;
            from(app.client()).post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await
        }
    };
    (app, answer)
}

#[tokio::test]
async fn a_packed_account_passes_to_whoever_proves_its_address() {
    for proof in ["provider", "apple", "code"] {
        let (app, answer) = proved(proof).await;
        assert_eq!(answer.status(), 200, "{proof}: {}", answer.text());
        let token = answer.json()["access_token"].as_str().unwrap().to_owned();
        let me = app.client().with("x-stack-access-token", &token).get("/api/v1/users/me").await.json();
        assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&json!(ADA), &json!(true)), "{proof}");
        assert_eq!((&me["has_password"], &me["selected_team_id"]), (&json!(false), &Value::Null), "{proof}");
        assert_eq!(me["oauth_providers"].as_array().unwrap().len(), usize::from(proof != "code"), "{proof}");
        let told = app.mails(ADA).await.into_iter().filter(|mail| mail.0.subject.starts_with("New sign-in to ")).count();
        assert_eq!(told, 0, "{proof}: the new owner needs no notice of this sign-in");
    }
}
