//! Creating, reading, changing and deleting clients.

use serde_json::json;
use support::TestApp;

use super::{CLIENTS, REDIRECT, RelyingParty, text};

#[tokio::test]
async fn a_client_is_created_read_changed_and_deleted() {
    let app = TestApp::start().await;
    let body = json!({ "name": "Notes", "client_type": "confidential", "redirect_uris": [REDIRECT, REDIRECT], "tos_uri": "https://notes.example.com/terms" });
    let created = app.admin().post(CLIENTS, body).await;
    assert_eq!(created.status(), 201);
    let created = created.json();
    let secret = text(&created["client_secret"]);
    assert!(secret.starts_with("ocs_") && !format!("{:?}", app.table()).contains(&secret), "the secret is stored as a digest");
    let path = format!("{CLIENTS}/{}", text(&created["id"]));
    let read = app.admin().get(&path).await;
    let now = app.now().as_millisecond();
    let expected = json!({
        "id": created["id"], "source": "created", "metadata_url": null, "name": "Notes", "client_type": "confidential",
        "secrets": [{ "last_four": &secret[secret.len() - 4..], "expires_at_millis": null }],
        "logo_url": null, "client_uri": null, "policy_uri": null, "tos_uri": "https://notes.example.com/terms",
        "is_first_party": false, "pkce_optional": false, "redirect_uris": [REDIRECT], "post_logout_redirect_uris": [],
        "scopes": ["openid", "profile", "email", "teams", "permissions", "offline_access"], "signing_algorithm": "ES256",
        "access_token_seconds": null, "session_seconds": null, "allowed_team_ids": null, "allowed_permission_id": null,
        "is_disabled": false, "created_at_millis": now, "updated_at_millis": now,
    });
    assert_eq!(read.json(), expected);
    let tag = read.header("etag").unwrap().to_owned();
    let change = json!({ "name": "Letters", "tos_uri": null, "access_token_seconds": 300, "is_first_party": true });
    let changed = app.admin().with("if-match", &tag).patch(&path, change.clone()).await;
    assert_eq!(changed.status(), 200, "{}", changed.text());
    assert_eq!(
        (&changed.json()["name"], &changed.json()["tos_uri"], &changed.json()["access_token_seconds"]),
        (&json!("Letters"), &json!(null), &json!(300))
    );
    assert_eq!(app.admin().with("if-match", &tag).patch(&path, change).await.status(), 412);
    let listed = app.admin().get(CLIENTS).await.json();
    assert_eq!((listed["items"].as_array().unwrap().len(), &listed["items"][0]), (1, &changed.json()));
    assert_eq!(app.admin().delete(&path).await.status(), 200);
    for answer in [app.admin().delete(&path).await, app.admin().get(&path).await, app.admin().patch(&path, json!({})).await] {
        assert_eq!((answer.status(), answer.code().as_str()), (404, "OAUTH_CLIENT_NOT_FOUND"));
    }
    assert_eq!(app.admin().get(CLIENTS).await.json()["items"], json!([]));
}

#[tokio::test]
async fn only_administrators_manage_clients() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let path = format!("{CLIENTS}/{}", rp.id);
    for caller in [app.client(), app.server()] {
        for answer in [
            caller.get(CLIENTS).await,
            caller.get(&path).await,
            caller.post(CLIENTS, json!({ "name": "x", "client_type": "public" })).await,
            caller.patch(&path, json!({ "name": "x" })).await,
            caller.delete(&path).await,
            caller.post(&format!("{path}/rotate-secret"), json!({})).await,
        ] {
            assert_eq!(answer.code(), "INSUFFICIENT_ACCESS_TYPE");
        }
    }
    let other = app.another_project().await;
    assert_eq!(app.admin_of(&other).get(&path).await.status(), 404, "another project's administrator");
}

#[tokio::test]
async fn a_problem_with_a_field_says_what_is_expected() {
    let app = TestApp::start().await;
    let valid = json!({ "name": "Notes", "client_type": "public", "redirect_uris": [REDIRECT] });
    for (field, value, part) in [
        ("name", json!(""), "characters"),
        ("name", json!("a\u{202e}b"), "name"),
        ("client_type", json!("secret"), "public"),
        ("redirect_uris", json!(["http://notes.example.com/cb"]), "must be an https URL"),
        ("redirect_uris", json!(["https://notes.example.com/*"]), "redirect_uris[0]"),
        ("redirect_uris", json!(vec![REDIRECT; 51]), "at most 50"),
        ("post_logout_redirect_uris", json!(["javascript:alert(1)"]), "post_logout_redirect_uris[0]"),
        ("logo_url", json!("http://notes.example.com/logo.png"), "https URL"),
        ("client_uri", json!("nonsense"), "https URL"),
        ("scopes", json!(["openid", "everything"]), "must not contain everything"),
        ("scopes", json!(["a b"]), "scopes"),
        ("signing_algorithm", json!("RS256"), "RSA key"),
        ("access_token_seconds", json!(59), "from 60 to 86400"),
        ("session_seconds", json!(1), "from 300"),
        ("allowed_team_ids", json!([]), "1 to 20"),
        ("allowed_permission_id", json!("no spaces allowed"), "allowed_permission_id"),
        ("pkce_optional", json!(true), "public client"),
        ("unknown", json!(1), "unknown"),
    ] {
        let mut body = valid.clone();
        body[field] = value.clone();
        let answer = app.admin().post(CLIENTS, body).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{field} {value}");
        assert!(answer.text().contains(part), "{field} {value}: {}", answer.text());
    }
    for missing in ["name", "client_type"] {
        let mut body = valid.clone();
        body.as_object_mut().unwrap().remove(missing);
        assert!(app.admin().post(CLIENTS, body).await.text().contains("is required"), "{missing}");
    }
    let rp = RelyingParty::new(&app).await;
    let answer = app.admin().patch(&format!("{CLIENTS}/{}", rp.id), json!({ "client_type": "public" })).await;
    assert!(answer.text().contains("cannot be changed"), "{}", answer.text());
}

#[tokio::test]
async fn a_rotated_secret_works_beside_the_new_one_for_the_overlap() {
    let app = TestApp::start().await;
    let mut rp = RelyingParty::new(&app).await;
    let path = format!("{CLIENTS}/{}/rotate-secret", rp.id);
    let old = rp.secret.clone();
    let rotated = app.admin().post(&path, json!({ "expire_previous_in_millis": 60_000 })).await;
    let new = Some(text(&rotated.json()["client_secret"]));
    let is_known = async |rp: &RelyingParty<'_>| rp.refresh("unknown").await.json()["error"] == "invalid_grant";
    assert!(is_known(&rp).await);
    rp.secret = new;
    assert!(is_known(&rp).await);
    app.advance(jiff::SignedDuration::from_secs(61));
    assert!(is_known(&rp).await);
    rp.secret = old;
    assert_eq!(rp.refresh("unknown").await.json()["error"], "invalid_client");
    assert_eq!(app.admin().post(&path, json!({ "expire_previous_in_millis": 604_800_001 })).await.code(), "SCHEMA_ERROR");
    let public = RelyingParty::with(&app, json!({ "client_type": "public" })).await;
    assert_eq!(public.secret, None);
    let answer = app.admin().post(&format!("{CLIENTS}/{}/rotate-secret", public.id), json!({})).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "OAUTH_CLIENT_HAS_NO_SECRET"));
}

#[tokio::test]
async fn clients_are_listed_in_pages() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        RelyingParty::new(&app).await;
    }
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.admin().get(&format!("{CLIENTS}?limit=2{cursor}")).await.json();
        ids.extend(page["items"].as_array().unwrap().iter().map(|client| text(&client["id"])));
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!((ids.len(), &ids), (5, &sorted));
}
