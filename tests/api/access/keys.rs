//! The API keys of a project.

use secrecy::ExposeSecret as _;
use serde_json::json;
use support::{Caller, TestApp};

use super::{ADMIN, SERVER, UNKNOWN};

const CLIENT_KEY: &str = "x-stack-publishable-client-key";
const SERVER_KEY: &str = "x-stack-secret-server-key";
const ADMIN_KEY: &str = "x-stack-super-secret-admin-key";

/// An operation that clients may call without a signed-in user.
const PROJECT: &str = "/api/v1/projects/current";

async fn refusal(caller: &Caller, path: &str) -> (u16, String) {
    let answer = caller.get(path).await;
    (answer.status(), answer.code())
}

fn refused(code: &str) -> (u16, String) {
    (401, code.to_owned())
}

#[tokio::test]
async fn wrong_and_foreign_keys_are_rejected() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let [client, server, admin] = [&app.keys.client, &app.keys.server, &app.keys.admin].map(|key| key.expose_secret().to_owned());
    let cases = [
        (app.client(), CLIENT_KEY, PROJECT, "INVALID_PUBLISHABLE_CLIENT_KEY", [&server, &admin], other.client.expose_secret()),
        (app.server(), SERVER_KEY, SERVER, "INVALID_SECRET_SERVER_KEY", [&client, &admin], other.server.expose_secret()),
        (app.admin(), ADMIN_KEY, ADMIN, "INVALID_SUPER_SECRET_ADMIN_KEY", [&client, &server], other.admin.expose_secret()),
    ];
    for (caller, header, path, code, of_other_kinds, of_other_project) in cases {
        assert_eq!(caller.get(path).await.status(), 200);
        for key in [of_other_kinds[0], of_other_kinds[1], of_other_project, "x", "pck_", &client[..40], &client.to_uppercase()] {
            let answer = caller.clone().with(header, key).get(path).await;
            assert_eq!((answer.status(), answer.code()), refused(code), "{key}");
            assert_eq!(answer.json()["details"], json!({ "project_id": app.project_id() }));
        }
    }
    assert_eq!(
        refusal(&app.client_of(&other).with("x-stack-project-id", app.project_id().as_str()), PROJECT).await,
        refused("INVALID_PUBLISHABLE_CLIENT_KEY")
    );
}

#[tokio::test]
async fn a_key_of_another_access_type_is_ignored() {
    let app = TestApp::start().await;
    let server = app.client().without(CLIENT_KEY).with("x-stack-access-type", "server");
    let with_admin_key = server.clone().with(ADMIN_KEY, app.keys.admin.expose_secret());
    for caller in [server, with_admin_key] {
        assert_eq!(refusal(&caller, SERVER).await, refused("SERVER_AUTHENTICATION_REQUIRED"));
    }
    let admin = app.server().with("x-stack-access-type", "admin");
    assert_eq!(refusal(&admin, ADMIN).await, refused("ADMIN_AUTHENTICATION_REQUIRED"));
    let client = app.client().with(SERVER_KEY, "ssk_wrong").with(ADMIN_KEY, "sak_wrong");
    assert_eq!(client.get(PROJECT).await.status(), 200);
}

#[tokio::test]
async fn a_client_key_is_required_only_if_the_project_requires_it() {
    let app = TestApp::start().await;
    let none = app.client().without(CLIENT_KEY);
    let sentinel = app.client().with(CLIENT_KEY, "__stack_public_client__");
    for caller in [&none, &sentinel] {
        assert_eq!(caller.get(PROJECT).await.status(), 200);
    }
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    for caller in [&none, &sentinel] {
        let answer = caller.get(PROJECT).await;
        assert_eq!((answer.status(), answer.code()), refused("PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT"));
        assert_eq!(answer.json()["details"], json!({ "project_id": app.project_id() }));
    }
    assert_eq!(app.client().get(PROJECT).await.status(), 200);
    assert_eq!(app.server().get(PROJECT).await.status(), 200);
    let no_key = app.client().with("x-stack-access-type", "server").with(SERVER_KEY, "__stack_public_client__");
    assert_eq!(refusal(&no_key, PROJECT).await, refused("SERVER_AUTHENTICATION_REQUIRED"));
}

#[tokio::test]
async fn an_unknown_project_is_reported() {
    let app = TestApp::start().await;
    for id in [UNKNOWN, "nothing", "internal", "../x", "00000000-0000-0000-0000-000000000000"] {
        let answer = app.client().with("x-stack-project-id", id).get(PROJECT).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "CURRENT_PROJECT_NOT_FOUND"));
        assert_eq!(answer.json()["details"], json!({ "project_id": id }));
    }
    let upper = app.client().with("x-stack-project-id", &app.project_id().as_str().to_uppercase());
    assert_eq!(upper.get(PROJECT).await.status(), 200);
}

#[tokio::test]
async fn the_main_branch_can_be_named() {
    let app = TestApp::start().await;
    assert_eq!(app.client().with("x-stack-branch-id", "main").get(PROJECT).await.status(), 200);
    let other = app.client().with("x-stack-branch-id", "other").get(PROJECT).await;
    assert_eq!((other.status(), &other.json()["details"]), (400, &json!({ "branch_id": "other" })));
}

#[tokio::test]
async fn a_misplaced_key_is_explained_and_not_echoed() {
    let app = TestApp::start().await;
    let [client, server, admin] = [&app.keys.client, &app.keys.server, &app.keys.admin].map(|key| key.expose_secret().to_owned());
    let in_client = "X-Service-Publishable-Client-Key contains a secret server key (ssk_…), which belongs in X-Service-Secret-Server-Key";
    let cases = [
        (app.client().with(CLIENT_KEY, &server), in_client),
        (app.client().with(CLIENT_KEY, &server), "replace the key if it was ever in a browser or an app"),
        (app.client().with(CLIENT_KEY, &admin), "contains a super secret admin key (sak_…)"),
        (app.server().with(SERVER_KEY, &client), "X-Service-Secret-Server-Key contains a publishable client key (pck_…)"),
        (
            app.server().without(SERVER_KEY).with(CLIENT_KEY, &server),
            "X-Service-Publishable-Client-Key contains a key of this kind; send the key in X-Service-Secret",
        ),
        (app.server().with(SERVER_KEY, &client).with(CLIENT_KEY, &server), "X-Service-Secret-Server-Key contains a publishable client key"),
        (app.admin().with(ADMIN_KEY, &server), "X-Service-Super-Secret-Admin-Key contains a secret server key (ssk_…)"),
        (app.client().with(CLIENT_KEY, "nonsense"), "a publishable client key begins with pck_"),
    ];
    for (caller, expected) in cases {
        let answer = caller.get(SERVER).await;
        assert_eq!(answer.status(), 401);
        assert!(answer.json()["error"].as_str().unwrap().contains(expected), "{}", answer.text());
        assert!([&client, &server, &admin].iter().all(|key| !answer.text().contains(key.as_str())), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_key_in_the_project_or_branch_header_is_not_echoed() {
    let app = TestApp::start().await;
    let server = app.keys.server.expose_secret();
    for header in ["x-stack-project-id", "x-stack-branch-id", "x-stack-access-type"] {
        for caller in [app.client(), app.server()] {
            let answer = caller.with(header, server).get(PROJECT).await;
            assert!(answer.status() == 400 && !answer.text().contains(server), "{header}: {}", answer.text());
        }
    }
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).with("x-stack-project-id", server).get(PROJECT).await;
    assert!(answer.code() == "INVALID_PROJECT_FOR_ACCESS_TOKEN" && !answer.text().contains(server), "{}", answer.text());
}
