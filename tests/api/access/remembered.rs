//! Projects and keys that a process caches, if the operator permits it.

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

use super::{ADMIN, CLIENT};

const KEYS: &str = "/api/v1/internal/api-keys";
const PROJECT: &str = "/api/v1/projects/current";
const TOKEN: &str = "/api/v1/auth/oauth/token";
/// How long the deployments in these tests cache projects and keys.
const LIFE: SignedDuration = SignedDuration::from_secs(2);
const MILLISECOND: SignedDuration = SignedDuration::from_millis(1);

/// A deployment that caches projects and keys for two seconds.
async fn remembering() -> TestApp {
    TestApp::start().await.redeployed(|settings| settings.project_cache_seconds = 2)
}

/// A set with one key of each kind, in the project of `admin`.
async fn new_set(app: &TestApp, admin: &Caller) -> Value {
    let expires = (app.now() + SignedDuration::from_hours(1)).as_millisecond();
    let body = json!({
        "description": "Backend", "expires_at_millis": expires,
        "has_publishable_client_key": true, "has_secret_server_key": true, "has_super_secret_admin_key": true,
    });
    let created = admin.post(KEYS, body).await;
    assert_eq!(created.status(), 200, "{}", created.text());
    created.json()
}

async fn revoke(admin: &Caller, set: &Value) {
    let path = format!("{KEYS}/{}", set["id"].as_str().unwrap());
    assert_eq!(admin.patch(&path, json!({ "revoked": true })).await.status(), 200);
}

/// The statuses that a client, a server and an administrator get when they use the keys of a set.
async fn statuses(app: &TestApp, set: &Value) -> [u16; 3] {
    let key = |name: &str| set[name].as_str().unwrap().to_owned();
    let client = app.client().with("x-stack-publishable-client-key", &key("publishable_client_key"));
    let server = app.server().with("x-stack-secret-server-key", &key("secret_server_key"));
    let admin = app.admin().with("x-stack-super-secret-admin-key", &key("super_secret_admin_key"));
    [client.get(PROJECT).await.status(), server.get("/api/v1/users").await.status(), admin.get(ADMIN).await.status()]
}

async fn refresh(app: &TestApp, key: &str, token: &str) -> Answer {
    let id = app.project_id().as_str();
    let body = json!({ "grant_type": "refresh_token", "client_id": id, "client_secret": key, "refresh_token": token });
    app.anonymous().post(TOKEN, body).await
}

/// The number of items in the project's partition that batch reads requested.
fn read_of_project(app: &TestApp) -> usize {
    let own = format!("\"P#{}\"", app.project_id());
    app.recorder.calls().iter().filter(|(operation, _)| operation == "BatchGetItem").map(|(_, body)| body.matches(&own).count()).sum()
}

#[tokio::test]
async fn a_revoked_key_ends_after_two_seconds_where_keys_are_remembered() {
    let app = remembering().await;
    let set = new_set(&app, &app.admin()).await;
    assert_eq!(statuses(&app, &set).await, [200; 3]);
    revoke(&app.admin(), &set).await;
    assert_eq!(statuses(&app, &set).await, [200, 200, 401], "administrators' keys are always read");
    app.advance(LIFE - MILLISECOND);
    assert_eq!(statuses(&app, &set).await, [200, 200, 401]);
    app.advance(MILLISECOND);
    assert_eq!(statuses(&app, &set).await, [401; 3], "use does not prolong the time");
}

#[tokio::test]
async fn a_revoked_key_ends_at_once_by_default() {
    let app = TestApp::start().await;
    let set = new_set(&app, &app.admin()).await;
    assert_eq!(statuses(&app, &set).await, [200; 3]);
    revoke(&app.admin(), &set).await;
    assert_eq!(statuses(&app, &set).await, [401; 3]);
}

#[tokio::test]
async fn a_key_that_was_refused_works_as_soon_as_it_exists() {
    let app = remembering().await;
    let another = app.another_project().await;
    let (other, at_other) = (app.admin_of(&another), app.client_of(&another));
    let set = new_set(&app, &other).await;
    let key = set["publishable_client_key"].as_str().unwrap();
    assert_eq!(app.client().with("x-stack-publishable-client-key", key).get(PROJECT).await.status(), 401);
    assert_eq!(at_other.with("x-stack-publishable-client-key", key).get(PROJECT).await.status(), 200);
    // Lifting a requirement takes effect immediately, because refusals are not cached.
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    let keyless = app.client().without("x-stack-publishable-client-key");
    assert_eq!(keyless.get(PROJECT).await.status(), 401);
    app.configure(json!({ "config": { "require_publishable_client_key": false } })).await;
    assert_eq!(keyless.get(PROJECT).await.status(), 200);
}

#[tokio::test]
async fn remembered_projects_keys_and_levels_are_not_mixed() {
    let app = remembering().await;
    let another = app.another_project().await;
    for _ in 0..2 {
        let (own, other) = (app.client().get(PROJECT).await.json(), app.client_of(&another).get(PROJECT).await.json());
        assert_eq!((own["id"].as_str(), other["id"].as_str()), (Some(app.project_id().as_str()), Some(another.project_id.as_str())));
        assert_eq!(app.server().get("/api/v1/users").await.status(), 200);
        let keys = [another.client.expose_secret(), app.keys.server.expose_secret(), app.keys.admin.expose_secret()];
        for key in keys {
            assert_eq!(app.client().with("x-stack-publishable-client-key", key).get(PROJECT).await.status(), 401);
        }
        let keys = [another.server.expose_secret(), app.keys.client.expose_secret(), app.keys.admin.expose_secret()];
        for key in keys {
            assert_eq!(app.server().with("x-stack-secret-server-key", key).get("/api/v1/users").await.status(), 401);
        }
    }
}

#[tokio::test]
async fn a_remembered_key_still_expires_on_time() {
    let app = remembering().await;
    let expires = (app.now() + SignedDuration::from_secs(1)).as_millisecond();
    let body = json!({
        "description": "Brief", "expires_at_millis": expires,
        "has_publishable_client_key": true, "has_secret_server_key": false, "has_super_secret_admin_key": false,
    });
    let set = app.admin().post(KEYS, body).await.json();
    let client = app.client().with("x-stack-publishable-client-key", set["publishable_client_key"].as_str().unwrap());
    assert_eq!(client.get(PROJECT).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(client.get(PROJECT).await.status(), 401);
}

#[tokio::test]
async fn an_ended_session_ends_at_once_also_where_keys_are_remembered() {
    let app = remembering().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).get(CLIENT).await.status(), 200);
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_eq!(app.signed_in(&ada).get(CLIENT).await.status(), 401);
    assert_eq!(refresh(&app, app.keys.client.expose_secret(), &ada.refresh_token).await.status(), 401);
}

#[tokio::test]
async fn the_token_endpoint_remembers_keys_of_clients_and_reads_those_of_machines() {
    let app = remembering().await;
    let ada = app.sign_up("ada@example.com").await;
    let set = new_set(&app, &app.admin()).await;
    let key = |name: &str| set[name].as_str().unwrap().to_owned();
    let (client, server) = (key("publishable_client_key"), key("secret_server_key"));
    let id = app.project_id().as_str();
    let machine = async || {
        let body = json!({ "grant_type": "client_credentials", "client_id": id, "client_secret": server });
        app.anonymous().post(TOKEN, body).await.status()
    };
    assert_eq!((refresh(&app, &client, &ada.refresh_token).await.status(), machine().await), (200, 200));
    revoke(&app.admin(), &set).await;
    assert_eq!((refresh(&app, &client, &ada.refresh_token).await.status(), machine().await), (200, 400));
    app.advance(LIFE);
    assert_eq!(refresh(&app, &client, &ada.refresh_token).await.status(), 400);
}

#[tokio::test]
async fn a_remembered_project_and_key_are_not_read() {
    let app = remembering().await;
    for (expected, advance) in [(2, MILLISECOND), (0, LIFE), (2, LIFE)] {
        app.recorder.clear();
        assert_eq!(app.client().get(PROJECT).await.status(), 200);
        assert_eq!(read_of_project(&app), expected);
        app.advance(advance);
    }
}

#[tokio::test]
async fn requests_that_race_a_revocation_outlive_it_by_two_seconds_at_most() {
    let app = remembering().await;
    for _ in 0..10 {
        let set = new_set(&app, &app.admin()).await;
        let client = app.client().with("x-stack-publishable-client-key", set["publishable_client_key"].as_str().unwrap());
        let admin = app.admin();
        let racing = futures_util::future::join_all((0..8).map(|_| client.get(PROJECT)));
        let (answers, ()) = tokio::join!(racing, revoke(&admin, &set));
        assert!(answers.iter().all(|answer| matches!(answer.status(), 200 | 401)));
        app.advance(LIFE);
        assert_eq!(client.get(PROJECT).await.status(), 401);
    }
}
