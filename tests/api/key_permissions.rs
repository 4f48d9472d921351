//! Keys with limited permissions. The tests try every operation with server access with every
//! permission.

use std::collections::BTreeSet;

use http::HeaderValue;
use infra::{Operation, operations};
use jiff::SignedDuration;
use model::limit::Limits;
use model::project::key_permission::KeyPermission;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{Answer, TestApp};
use wire::clock::after;
use wire::level::Level;

use crate::events::{KEY, World, name};

const PATH: &str = "/api/v1/internal/api-keys";
const INTERNAL: &str = "internal";
const REFUSED: &str = "INSUFFICIENT_KEY_PERMISSION";

fn wanted(app: &TestApp, permissions: &Value) -> Value {
    json!({
        "description": "Nightly export",
        "expires_at_millis": after(app.now(), SignedDuration::from_hours(1)).as_millisecond(),
        "has_publishable_client_key": false,
        "has_secret_server_key": true,
        "has_super_secret_admin_key": false,
        "permissions": permissions,
    })
}

/// The operations that can be called with a server key.
fn open_to_servers() -> impl Iterator<Item = Operation> {
    operations::all().into_iter().filter(|operation| operation.description.level.is_some_and(|level| level <= Level::Server))
}

async fn create(admin: &support::Caller, app: &TestApp, permissions: &[KeyPermission]) -> String {
    let names: Vec<String> = permissions.iter().map(ToString::to_string).collect();
    let answer = admin.post(PATH, wanted(app, &json!(names))).await;
    assert_eq!((answer.status(), &answer.json()["permissions"]), (200, &json!(names)), "{}", answer.text());
    answer.json()["secret_server_key"].as_str().unwrap().to_owned()
}

/// Sends the event of an operation with this key, with server access.
async fn send(world: &World, operation: &Operation, key: &str) -> Answer {
    let mut request = world.request(&name(operation));
    let value = |text: &str| text.parse::<HeaderValue>().unwrap();
    let headers = request.headers_mut();
    // The token in an event for `internal` belongs to a user of `internal`, and is invalid in the
    // key's project.
    if headers.get("x-service-project-id").is_some_and(|project| project == INTERNAL) {
        headers.remove("x-service-access-token");
    }
    headers.insert("x-service-access-type", value("server"));
    headers.insert("x-service-project-id", value(crate::events::PROJECT));
    headers.insert("x-service-secret-server-key", value(key));
    Answer::read(world.app.answer(request).await).await
}

#[tokio::test]
async fn a_key_opens_the_operations_of_its_permissions_and_no_others() {
    let mut tried = BTreeSet::new();
    for needed in KeyPermission::all() {
        let others: Vec<KeyPermission> = KeyPermission::all().filter(|permission| *permission != needed).collect();
        let world = World::unobserved(Limits::off()).await;
        let admin = world.app.admin().with("x-stack-project-id", crate::events::PROJECT);
        let admin = admin.with("x-stack-super-secret-admin-key", &format!("sak_{KEY}"));
        let (only, without) = (create(&admin, &world.app, &[needed]).await, create(&admin, &world.app, &others).await);
        drop(admin);
        let with_keys = world.kept();
        for operation in open_to_servers().filter(|operation| operation.route.permission() == Some(needed)) {
            // Each operation is tried in a new service, because an earlier operation may have ended
            // the session of the event.
            let world = with_keys.begin(Limits::off()).await;
            let before = world.app.rows();
            let refused = send(&world, &operation, &without).await;
            assert_eq!((refused.status(), refused.code().as_str()), (403, REFUSED), "{}: {}", operation.route.name, refused.text());
            assert_eq!(refused.json()["details"]["required_permission"], needed.to_string());
            assert_eq!(world.app.rows(), before, "{} changes something", operation.route.name);
            let permitted = send(&world, &operation, &only).await;
            assert!(permitted.status() != 403 || permitted.code() != REFUSED, "{}: {}", operation.route.name, permitted.text());
            tried.insert(operation.route.name);
        }
    }
    let all: BTreeSet<&str> = open_to_servers().map(|operation| operation.route.name).collect();
    assert_eq!(tried, all, "the area of an operation is missing from `KeyArea`");
}

#[tokio::test]
async fn a_key_that_may_read_users_can_do_nothing_else_and_expires() {
    let app = TestApp::start().await;
    let key = create(&app.admin(), &app, &["users:read".parse().unwrap()]).await;
    let server = app.server().with("x-stack-secret-server-key", &key);
    assert_eq!(server.get("/api/v1/users").await.status(), 200);
    for refused in [server.post("/api/v1/users", json!({})).await, server.get("/api/v1/teams").await] {
        assert_eq!((refused.status(), refused.code().as_str()), (403, REFUSED), "{}", refused.text());
    }
    let listed = app.admin().get(PATH).await.json();
    assert_eq!(listed["items"][0]["permissions"], json!(["users:read"]), "{listed}");

    app.advance(SignedDuration::from_hours(1));
    assert_eq!(server.get("/api/v1/users").await.code(), "INVALID_SECRET_SERVER_KEY");
}

#[tokio::test]
async fn permissions_require_a_set_with_only_a_server_key_and_must_exist() {
    let app = TestApp::start().await;
    for wrong in [json!([]), json!(["users"]), json!(["users:delete"]), json!(["nothing:read"]), json!("users:read"), json!(["*:read"])] {
        let answer = app.admin().post(PATH, wanted(&app, &wrong)).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{wrong}: {}", answer.text());
    }
    for other in ["has_publishable_client_key", "has_super_secret_admin_key"] {
        let mut body = wanted(&app, &json!(["users:read"]));
        body[other] = json!(true);
        let answer = app.admin().post(PATH, body).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{other}: {}", answer.text());
    }
}

/// Keys from earlier versions do not list permissions, and therefore have every permission.
#[tokio::test]
async fn a_key_without_permissions_is_stored_as_before() {
    let app = TestApp::start().await;
    let key = app.app.store.api_key(app.project_id(), &app.keys.server).await.unwrap().unwrap();
    let stored = serde_json::to_value(&key).unwrap();
    assert!(stored.get("permissions").is_none() && app.keys.server.expose_secret().starts_with("ssk_"), "{stored}");
    assert!(KeyPermission::all().all(|permission| key.may(permission)));
}
