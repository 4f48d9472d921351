//! Rotating the deployment secret does not sign users out and does not lose sealed values.

use crypto::deployment_secret::DeploymentSecret;
use secrecy::ExposeSecret as _;
use serde_json::json;
use support::TestApp;

const OLD: &str = "a deployment secret for tests alone";
const NEW: &str = "the deployment secret that comes after it";

/// The deployment during and after the replacement of its secret.
fn rotated(app: &TestApp) -> (TestApp, TestApp) {
    let new = || DeploymentSecret::from(NEW.to_owned());
    (
        app.redeployed(|settings| settings.secret = new().with_previous(OLD.to_owned().into())),
        app.redeployed(|settings| settings.secret = new()),
    )
}

async fn key_ids(app: &TestApp) -> Vec<String> {
    let path = format!("/api/v1/projects/{}/.well-known/jwks.json", app.project_id());
    let set = app.anonymous().get(&path).await.json();
    set["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

fn key_id(token: &str) -> String {
    jsonwebtoken::decode_header(token).unwrap().kid.unwrap()
}

#[tokio::test]
async fn sessions_survive_the_rotation_of_the_secret() {
    let before = TestApp::start().await;
    let ada = before.sign_up("ada@example.com").await;
    let (during, after) = rotated(&before);

    let me = during.signed_in(&ada).get("/api/v1/users/me").await;
    assert_eq!((me.status(), &me.json()["primary_email"]), (200, &json!("ada@example.com")));
    let refreshed = during.client().with("x-stack-refresh-token", &ada.refresh_token);
    let refreshed = refreshed.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(refreshed.status(), 200, "{}", refreshed.text());
    let token = refreshed.json()["access_token"].as_str().unwrap().to_owned();

    // The keys of both secrets are published, and new tokens are signed with the key of the new
    // secret.
    assert_eq!(key_ids(&during).await, [key_id(&token), key_id(&ada.access_token)]);
    assert_eq!((key_ids(&before).await, key_ids(&after).await), (vec![key_id(&ada.access_token)], vec![key_id(&token)]));

    let with = |token: &str| after.client().with("x-stack-access-token", token);
    assert_eq!(with(&token).get("/api/v1/users/me").await.status(), 200);
    let old = with(&ada.access_token).get("/api/v1/users/me").await;
    assert_eq!((old.status(), old.code().as_str()), (401, "UNPARSABLE_ACCESS_TOKEN"));
}

#[tokio::test]
async fn a_token_of_a_third_secret_is_rejected() {
    let before = TestApp::start().await;
    let ada = before.sign_up("ada@example.com").await;
    let stranger = before.redeployed(|settings| settings.secret = "a deployment secret of somebody else".to_owned().into());
    let bob = stranger.sign_up("bob@example.com").await;
    let (during, _) = rotated(&before);
    assert_eq!(during.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
    assert_eq!(during.signed_in(&bob).get("/api/v1/users/me").await.status(), 401);
}

#[tokio::test]
async fn sealed_values_open_with_either_secret_and_are_sealed_with_the_new_one() {
    let before = TestApp::start().await;
    let owner = "somebody";
    let seal = |app: &TestApp| app.app.sealer.seal(&app.app.entropy, owner, &"a provider's secret".to_owned().into()).unwrap();
    let (during, after) = rotated(&before);
    let (old, new) = (seal(&before), seal(&during));
    for sealed in [&old, &new] {
        assert_eq!(during.app.sealer.open(owner, sealed).unwrap().expose_secret(), "a provider's secret");
        assert!(during.app.sealer.open("somebody else", sealed).is_err());
    }
    assert!(before.app.sealer.open(owner, &new).is_err());
    assert!(after.app.sealer.open(owner, &old).is_err());
    assert_eq!(after.app.sealer.open(owner, &new).unwrap().expose_secret(), "a provider's secret");
}

#[tokio::test]
async fn cursors_survive_the_rotation_of_the_secret() {
    let before = TestApp::start().await;
    for name in ["ada", "bob", "cleo"] {
        before.sign_up(&format!("{name}@example.com")).await;
    }
    let first = before.server().get("/api/v1/users?limit=2").await.json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let (during, _) = rotated(&before);
    let second = during.server().get(&format!("/api/v1/users?limit=2&cursor={cursor}")).await;
    assert_eq!((second.status(), second.json()["items"].as_array().unwrap().len()), (200, 1));
}
