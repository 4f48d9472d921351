//! Refresh tokens of clients, which are replaced with each use.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{RelyingParty, claims, signed_in, text};

#[tokio::test]
async fn each_use_replaces_the_token() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let first = rp.tokens(&browser).await;
    let mut token = text(&first["refresh_token"]);
    assert_eq!(token.len(), 116);
    for _ in 0..3 {
        app.advance(SignedDuration::from_mins(1));
        let answer = rp.refresh(&token).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let next = answer.json();
        assert_ne!(next["refresh_token"], json!(token));
        assert_eq!(claims(&next["access_token"])["sid"], claims(&first["access_token"])["sid"]);
        let id = claims(&next["id_token"]);
        assert_eq!((&id["auth_time"], id.get("nonce")), (&claims(&first["id_token"])["auth_time"], None));
        token = text(&next["refresh_token"]);
    }
    assert!(!format!("{:?}", app.table()).contains(&token), "the table has only digests and sealed tokens");
}

#[tokio::test]
async fn a_lost_answer_and_two_tabs_get_the_same_successor() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let token = text(&rp.tokens(&browser).await["refresh_token"]);
    let answers = join_all((0..8).map(|_| rp.refresh(&token))).await;
    let successors: Vec<String> = answers.iter().map(|answer| text(&answer.json()["refresh_token"])).collect();
    assert!(successors.iter().all(|successor| *successor == successors[0]), "{successors:?}");
    app.advance(SignedDuration::from_secs(29));
    assert_eq!(text(&rp.refresh(&token).await.json()["refresh_token"]), successors[0]);
    assert_eq!(rp.refresh(&successors[0]).await.status(), 200);
}

#[tokio::test]
async fn an_outdated_token_ends_the_grant_and_its_owner_is_told() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let user = text(&claims(&rp.tokens(&browser).await["access_token"])["sub"]);
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), verified).await.status(), 200);
    let (stolen, other) = (rp.tokens(&browser).await, rp.tokens(&browser).await);
    let next = rp.refresh(&text(&stolen["refresh_token"])).await.json();
    app.advance(SignedDuration::from_secs(30));
    let replayed = rp.refresh(&text(&stolen["refresh_token"])).await;
    assert_eq!((replayed.status(), &replayed.json()["error"]), (400, &json!("invalid_grant")), "{}", replayed.text());
    for tokens in [&next, &other] {
        assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant", "every session of the grant ends");
        assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
    }
    assert_eq!(rp.page(&browser, &[]).await.status(), 200, "the user is asked again");
    app.send_emails().await;
    let mails = app.mails("ada@example.com").await;
    assert!(mails.iter().any(|mail| mail.0.text.contains("an outdated token of Notes")), "{}", mails.len());
    let entries = app.admin().get("/api/v1/internal/audit-log").await.json().to_string();
    assert!(entries.contains("client-token-replayed"), "{entries}");
}

#[tokio::test]
async fn a_token_works_only_for_its_client() {
    let app = TestApp::start().await;
    let (rp, other) = (RelyingParty::new(&app).await, RelyingParty::new(&app).await);
    let browser = signed_in(&app, "ada@example.com").await;
    let token = text(&rp.tokens(&browser).await["refresh_token"]);
    assert_eq!(other.refresh(&token).await.json()["error"], "invalid_grant");
    let wrong = RelyingParty { app: &app, id: rp.id.clone(), secret: Some("ocs_wrong".to_owned()), redirect_uri: String::new() };
    assert_eq!(wrong.refresh(&token).await.json()["error"], "invalid_client");
    let none = RelyingParty { secret: None, ..wrong };
    assert_eq!(none.refresh(&token).await.json()["error"], "invalid_client");
    assert_eq!(rp.refresh(&token).await.status(), 200, "the attempts of others have not used it up");
    // Nor does the token work as a refresh token of the project's apps.
    let app_refresh = app.client().with("x-service-refresh-token", &token).post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(app_refresh.code(), "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
}

#[tokio::test]
async fn one_access_token_can_have_fewer_scopes() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let token = text(&rp.tokens(&browser).await["refresh_token"]);
    let narrow =
        async |token: &str, scope: &str| rp.token(&[("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)]).await;
    let answer = narrow(&token, "openid").await.json();
    assert_eq!(answer["scope"], "openid");
    assert_eq!(claims(&answer["access_token"])["email"], json!(null));
    let whole = rp.refresh(&text(&answer["refresh_token"])).await.json();
    assert_eq!(whole["scope"], "openid email offline_access");
    let token = text(&whole["refresh_token"]);
    assert_eq!(narrow(&token, "openid profile").await.json()["error"], "invalid_scope");
    assert_eq!(rp.refresh(&token).await.status(), 200, "the refused request has not used the token up");
}

#[tokio::test]
async fn a_session_ends_with_the_users_sessions_and_the_client() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    let user = text(&claims(&tokens["access_token"])["sub"]);
    let is_refused = async |rp: &RelyingParty<'_>, token: &serde_json::Value| rp.refresh(&text(token)).await.status() >= 400;
    let path = format!("{}/{}", super::CLIENTS, rp.id);
    app.admin().patch(&path, json!({ "is_disabled": true })).await;
    assert!(is_refused(&rp, &tokens["refresh_token"]).await && rp.userinfo(&text(&tokens["access_token"])).await.status() == 401);
    app.admin().patch(&path, json!({ "is_disabled": false })).await;
    let tokens = rp.refresh(&text(&tokens["refresh_token"])).await.json();
    assert!(tokens["access_token"].is_string());
    let restricted = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "spam" });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), restricted).await.status(), 200);
    assert!(is_refused(&rp, &tokens["refresh_token"]).await);
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
    let lifted = json!({ "restricted_by_admin": false, "restricted_by_admin_reason": null });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), lifted).await.status(), 200);
    let tokens = rp.refresh(&text(&tokens["refresh_token"])).await.json();
    let list = format!("/api/v1/auth/sessions?user_id={user}");
    let listed = async || {
        let sessions = app.server().get(&list).await.json();
        sessions["items"].as_array().unwrap().iter().filter(|session| session["client_id"] == rp.id.as_str()).count()
    };
    assert_eq!(listed().await, 1);
    let deleted = RelyingParty::new(&app).await;
    let of_deleted = deleted.tokens(&browser).await;
    let path = format!("{}/{}", super::CLIENTS, deleted.id);
    assert_eq!(app.admin().delete(&path).await.status(), 200);
    assert_eq!(deleted.refresh(&text(&of_deleted["refresh_token"])).await.json()["error"], "invalid_client");
    let sessions = app.server().get(&list).await.json();
    let is_listed = |session: &serde_json::Value| session["client_id"] == deleted.id.as_str();
    assert!(!sessions["items"].as_array().unwrap().iter().any(is_listed), "{sessions}");
    assert_eq!(listed().await, 1);
    assert_eq!(app.server().delete(&format!("/api/v1/auth/sessions?user_id={user}")).await.status(), 200);
    assert!(is_refused(&rp, &tokens["refresh_token"]).await);
}

#[tokio::test]
async fn a_client_sets_how_long_its_sessions_and_tokens_last() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "access_token_seconds": 60, "session_seconds": 300 })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    assert_eq!(tokens["expires_in"], 60);
    app.advance(SignedDuration::from_secs(61));
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
    let tokens = rp.refresh(&text(&tokens["refresh_token"])).await.json();
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 200);
    app.advance(SignedDuration::from_secs(240));
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
}
