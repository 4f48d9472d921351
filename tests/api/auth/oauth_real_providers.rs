//! Peculiarities of individual providers in the catalog. `oauth_catalog` contains complete sign-ins
//! with each provider.

use std::collections::HashMap;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::stand_in::{REFRESH_TOKEN, StandIn};
use support::{Answer, SignedInUser, TestApp};

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{exchange, landed, parameter};

async fn start(provider_id: &str, documents: &[(&str, Value)]) -> (TestApp, StandIn) {
    let documents: HashMap<String, Value> = documents.iter().map(|(url, document)| ((*url).to_owned(), document.clone())).collect();
    let provider = StandIn::start(provider_id, documents).await;
    let app = TestApp::start_at(&provider).await;
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
    (app, provider)
}

/// Signs in, and returns the user as clients see it.
async fn sign_in(app: &TestApp, provider: &StandIn, others: &[(&'static str, &str)]) -> (SignedInUser, Value) {
    let id = provider.setting()["id"].as_str().unwrap().to_owned();
    let mut asked = parameters_with(app, others);
    asked.push(("response_mode", "json".to_owned()));
    let begun = authorize(app, &id, &asked).await;
    assert_eq!(begun.status(), 200, "{}", begun.text());
    let (code, state) = provider.allow(&begun.json()["location"].as_str().unwrap().parse().unwrap());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
    let back = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/{id}?{query}")).await);
    let mut tokens = exchange(app, &parameter(&back, "code")).await.json();
    let me = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    tokens["user_id"] = me["id"].clone();
    (SignedInUser::of(me["primary_email"].as_str().unwrap_or_default(), &tokens), me)
}

async fn token(app: &TestApp, user: &SignedInUser, provider_id: &str, scope: &str) -> Answer {
    let path = format!("/api/v1/connected-accounts/{}/{provider_id}/access-token", user.user_id);
    app.server().post(&path, json!({ "scope": scope })).await
}

const GITHUB: [(&str, &str); 2] = [("user", "https://api.github.com/user"), ("emails", "https://api.github.com/user/emails")];

fn github() -> [(&'static str, Value); 2] {
    [
        (GITHUB[0].1, json!({ "id": 583_231, "login": "ada", "name": "Ada" })),
        (GITHUB[1].1, json!([{ "email": "ada@example.com", "primary": true, "verified": true }])),
    ]
}

#[tokio::test]
async fn a_github_app_without_the_permission_for_addresses_signs_in_without_one() {
    for status in [403, 404] {
        let (app, provider) = start("github", &github()).await;
        provider.refuse(GITHUB[1].1, status);
        let (_, me) = sign_in(&app, &provider, &[]).await;
        assert_eq!((&me["primary_email"], &me["display_name"]), (&Value::Null, &json!("Ada")), "{status}");
    }
}

#[tokio::test]
async fn granted_scopes_cover_those_that_they_include() {
    let (app, provider) = start("github", &github()).await;
    provider.answer_with("scope", json!("repo,user"));
    let (user, _) = sign_in(&app, &provider, &[("provider_scope", "repo user:email read:user")]).await;
    for scope in ["public_repo", "user:email read:user", "repo", "repo:status"] {
        assert_eq!(token(&app, &user, "github", scope).await.status(), 201, "{scope}");
    }
    for scope in ["admin:org", "gist"] {
        assert_error(&token(&app, &user, "github", scope).await, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
    }
    // A GitHub App has permissions instead of scopes, and returns an empty string as the scope.
    provider.answer_with("scope", json!(""));
    let (user, _) = sign_in(&app, &provider, &[("provider_scope", "repo")]).await;
    assert_eq!(token(&app, &user, "github", "repo").await.status(), 201);
}

#[tokio::test]
async fn long_and_short_names_of_scopes_are_the_same() {
    let claims = json!({ "sub": "1084", "email": "ada@example.com", "email_verified": true });
    let (app, provider) = start("google", &[("", claims)]).await;
    provider.answer_with("scope", json!("openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/calendar"));
    let (user, _) = sign_in(&app, &provider, &[("provider_scope", "https://www.googleapis.com/auth/calendar")]).await;
    for scope in ["email openid", "https://www.googleapis.com/auth/userinfo.email", "https://www.googleapis.com/auth/calendar.readonly"] {
        assert_eq!(token(&app, &user, "google", scope).await.status(), 201, "{scope}");
    }
    assert_error(&token(&app, &user, "google", "profile").await, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");

    let account = json!({ "id": "a1", "displayName": "Ada", "mail": "ada@example.com" });
    let (app, provider) = start("microsoft", &[("https://graph.microsoft.com/v1.0/me", account)]).await;
    provider.answer_with("scope", json!("openid email profile User.Read Mail.ReadWrite"));
    let (user, _) = sign_in(&app, &provider, &[("provider_scope", "Mail.ReadWrite offline_access")]).await;
    for scope in ["offline_access User.Read", "https://graph.microsoft.com/mail.read"] {
        assert_eq!(token(&app, &user, "microsoft", scope).await.status(), 201, "{scope}");
    }
}

#[tokio::test]
async fn an_account_of_entra_without_a_mailbox_has_its_user_name_as_the_address() {
    for (upn, expected) in [("ada@contoso.example", json!("ada@contoso.example")), ("ada_gmail.com#EXT#@contoso.example", Value::Null)] {
        let account = json!({ "id": "a1", "displayName": "Ada", "mail": null, "userPrincipalName": upn });
        let (app, provider) = start("microsoft", &[("https://graph.microsoft.com/v1.0/me", account)]).await;
        let (_, me) = sign_in(&app, &provider, &[]).await;
        assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&expected, &json!(false)), "{upn}");
    }
}

/// Entra issues the next refresh token only if the app requests this scope again. A refresh token
/// expires after 90 days.
#[tokio::test]
async fn a_renewed_token_of_entra_asks_for_the_next_refresh_token() {
    let account = json!({ "id": "a1", "displayName": "Ada", "mail": "ada@example.com" });
    let (app, provider) = start("microsoft", &[("https://graph.microsoft.com/v1.0/me", account)]).await;
    provider.answer_with("refresh_token", json!(REFRESH_TOKEN));
    provider.answer_with("scope", json!("openid email profile User.Read Mail.Read"));
    let (user, _) = sign_in(&app, &provider, &[("provider_scope", "Mail.Read")]).await;
    app.advance(SignedDuration::from_mins(60));
    assert_eq!(token(&app, &user, "microsoft", "Mail.Read").await.status(), 201);
    assert_eq!(provider.renewal()["scope"], "openid email profile User.Read Mail.Read offline_access");
}

/// A token whose expiry is unknown is checked with the provider before it is returned.
#[tokio::test]
async fn each_provider_is_asked_about_a_token_in_its_own_way() {
    let facebook = "https://graph.facebook.com/v23.0/me?fields=id,name,email,picture.type(large)";
    for (id, documents) in [
        ("github", github().to_vec()),
        ("google", vec![("", json!({ "sub": "1084" }))]),
        ("facebook", vec![(facebook, json!({ "id": "102", "name": "Ada" }))]),
    ] {
        let (app, provider) = start(id, &documents).await;
        provider.answer_with("expires_in", Value::Null);
        let (user, _) = sign_in(&app, &provider, &[]).await;
        assert_eq!(token(&app, &user, id, "").await.status(), 201, "{id}");
        provider.fail(true);
        assert_eq!(token(&app, &user, id, "").await.status(), 201, "{id}: an outage says nothing about the token");
        provider.fail(false);
        provider.revoke();
        assert_error(&token(&app, &user, id, "").await, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
    }
}
