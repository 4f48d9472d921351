//! Any project can configure a provider whose callback at this service passes the code in its query
//! on to the provider. Codes must therefore never be sent to such a callback, even if the project
//! trusts the service's domain.

use serde_json::{Value, json};
use support::TestApp;

use super::{CALLBACK, PASSWORD};
use crate::auth::assert_error;

/// Spellings of a provider's callback URL, with a state that the attacker has obtained.
const OF_PROVIDERS: [&str; 4] = [
    "https://auth.example.com/api/v1/auth/oauth/callback/evil?state=s",
    "https://auth.example.com/api/latest/auth/oauth/callback/evil?state=s",
    "https://auth.example.com/stage//api/v1/auth/oauth/%63allback/evil?state=s",
    "http://localhost:8787/api/v1/auth/oauth/callback/evil?state=s",
];

async fn start() -> TestApp {
    let app = TestApp::start().await;
    let domains = json!([{ "domain": "https://auth.example.com" }]);
    let providers = json!([{ "id": "github", "type": "standard", "client_id": "id", "client_secret": "secret" }]);
    let config = json!({ "magic_link_enabled": true, "domains": domains, "oauth_providers": providers });
    app.configure(json!({ "config": config })).await;
    app
}

#[tokio::test]
async fn no_code_is_emailed_with_a_link_to_a_providers_callback() {
    let app = start().await;
    let ada = app.sign_up("ada@example.com").await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Team", "creator_user_id": ada.user_id })).await.json();
    let requests: [(&str, &str, Value); 5] = [
        ("/api/v1/auth/password/send-reset-code", "callback_url", json!({ "email": "ada@example.com" })),
        ("/api/v1/auth/otp/send-sign-in-code", "callback_url", json!({ "email": "ada@example.com" })),
        ("/api/v1/auth/password/sign-up", "verification_callback_url", json!({ "email": "new@example.com", "password": PASSWORD })),
        ("/api/v1/contact-channels/send-verification-code", "callback_url", json!({ "email": "ada@example.com" })),
        ("/api/v1/team-invitations/send-code", "callback_url", json!({ "team_id": team["id"], "email": "new@example.com" })),
    ];
    for (path, field, body) in requests {
        let with = |url: &str| {
            let mut body = body.clone();
            body[field] = json!(url);
            body
        };
        for url in OF_PROVIDERS {
            assert_error(&app.signed_in(&ada).post(path, with(url)).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
        }
        for url in [CALLBACK, "https://auth.example.com/handler/x"] {
            let answer = app.signed_in(&ada).post(path, with(url)).await;
            assert!(answer.status() == 200 || answer.code() == "USER_EMAIL_ALREADY_EXISTS", "{path} {}", answer.text());
        }
    }
}
