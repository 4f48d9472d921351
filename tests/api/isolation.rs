//! Two projects in one table contain the same users, addresses, codes and teams. A request with the
//! credentials of one project never reads or changes the data of the other project, no matter which
//! ids it contains. The operations come from the routes, so the tests cover new operations
//! automatically.

use std::collections::BTreeSet;

use api::http::Interface;
use http::HeaderValue;
use infra::{Operation, operations};
use model::limit::Limits;
use support::{Answer, Rows};

use crate::events::{KEY, PROJECT, TWIN, Twins, World, name, success};

const HEADERS: [(&str, &str); 3] = [
    ("client", "x-service-publishable-client-key"),
    ("server", "x-service-secret-server-key"),
    ("admin", "x-service-super-secret-admin-key"),
];
const PREFIXES: [&str; 3] = ["pck_", "ssk_", "sak_"];

/// The items that contain the id of a project in their partition key or content.
fn items_of(project: &str, rows: &Rows) -> Rows {
    rows.only(|(pk, _), text| pk.contains(project) || text.contains(project))
}

/// The operations that authenticate the caller.
fn proving() -> Vec<Operation> {
    let all = operations::all().into_iter();
    all.filter(|operation| operation.route.interface == Interface::Product && operation.description.level.is_some()).collect()
}

/// Sets the display names of the project, its users and its teams to a marker that reveals this
/// project's data in a response.
async fn mark(world: &World, project: &str, key: &str) {
    let admin = world.app.anonymous().with("x-stack-access-type", "admin").with("x-stack-project-id", project);
    let admin = admin.with("x-stack-super-secret-admin-key", &format!("sak_{key}"));
    let secret = serde_json::json!({ "display_name": "a secret of this project" });
    assert_eq!(admin.patch("/api/v1/internal/projects/current", secret.clone()).await.status(), 200);
    let server = admin.with("x-stack-access-type", "server").with("x-stack-secret-server-key", &format!("ssk_{key}"));
    let users = server.get("/api/v1/users?include_anonymous=true").await.json()["items"].as_array().unwrap().clone();
    let teams = server.get("/api/v1/teams").await.json()["items"].as_array().unwrap().clone();
    assert!(users.len() >= 4 && teams.len() >= 2);
    for (path, items) in [("users", users), ("teams", teams)] {
        for item in items {
            let path = format!("/api/v1/{path}/{}", item["id"].as_str().unwrap());
            assert_eq!(server.patch(&path, secret.clone()).await.status(), 200);
        }
    }
}

fn assert_tells_nothing(answer: &Answer, what: &str) {
    let text = String::from_utf8_lossy(answer.bytes());
    assert!(!text.contains("a secret of this project"), "{what}: {text}");
}

/// Asserts that a project's items have not changed.
fn assert_same(before: &Rows, after: &Rows, what: &str) {
    assert!(before == after || items_of(PROJECT, before) == items_of(PROJECT, after), "{what}");
}

/// Every event that is sent to the twin project finds the same items, succeeds, and changes nothing
/// in the first project.
#[tokio::test]
async fn an_operation_changes_nothing_in_an_identical_project() {
    let worlds = World::with_twin().await;
    mark(&worlds.0, PROJECT, KEY).await;
    let marked = Twins::of(worlds);
    for operation in operations::all() {
        let (world, twin) = marked.begin().await;
        let before = world.app.rows();
        let answer = twin.send(&name(&operation)).await;
        let after = world.app.rows();
        let what = operation.route.name;
        // A form token belongs to one project.
        let expected = if matches!(what, "hosted-account-submit" | "hosted-page-submit") { 403 } else { success(&operation) };
        assert_eq!(answer.status(), expected, "{what}: {}", answer.text());
        assert_tells_nothing(&answer, what);
        assert_same(&before, &after, what);
        for (pk, sk) in before.changed(&after) {
            // The state of an OAuth flow and the link of an email are found only by a secret that
            // they contain. The secret determines the project.
            let by_secret = ["S#", "V#"].iter().any(|kind| pk.starts_with(kind));
            // These operations write another project, the item that links this other project to its
            // team, and the team's count of projects.
            let of_owner = ["projects-internal-create", "projects-internal-transfer"].contains(&what);
            let of_team = pk.starts_with("T#internal#") && (sk.starts_with("PROJECT#") || sk == "TEAM");
            let owned = of_owner && (pk.starts_with("P#") || of_team);
            // The trail of a project is deleted with the project, so the trail of `internal`
            // records the deletion.
            let told = what == "projects-internal-current-delete" && pk.starts_with("P#internal#TRAIL#");
            let listed = ["PROJECTS", "ENDINGS"].contains(&pk.as_str());
            assert!(pk.contains(TWIN) || by_secret || owned || told || listed, "{what} changes {pk} {sk}");
        }
    }
}

/// Tries every operation that authenticates its caller, at each access level. The credentials
/// belong to a third project, which does not contain the items in the request.
#[tokio::test]
async fn items_of_another_project_are_not_found_at_any_access_type() {
    let mut tried = BTreeSet::new();
    let world = World::unobserved(Limits::off()).await;
    mark(&world, PROJECT, KEY).await;
    let user = world.app.sign_up("ada@example.com").await;
    let marked = world.kept();
    for operation in proving() {
        let world = marked.begin(Limits::off()).await;
        let own = &world.app.keys;
        for (level, header) in HEADERS {
            let (before, event) = (world.app.rows(), name(&operation));
            let mut request = world.request(&event);
            let headers = request.headers_mut();
            for (_, header) in HEADERS {
                headers.remove(header);
            }
            let keys = [&own.client, &own.server, &own.admin];
            let key = keys[HEADERS.iter().position(|(name, _)| *name == level).unwrap()];
            let value = |text: &str| text.parse::<HeaderValue>().unwrap();
            headers.insert("x-service-access-type", value(level));
            headers.insert("x-service-project-id", value(own.project_id.as_str()));
            headers.insert(header, value(secrecy::ExposeSecret::expose_secret(key)));
            if headers.remove("x-service-access-token").is_some() {
                headers.insert("x-service-access-token", value(&user.access_token));
            }
            let answer = Answer::read(world.app.answer(request).await).await;
            let what = format!("{} as {level}", operation.route.name);
            assert!(answer.status() < 500, "{what}: {}", answer.text());
            assert_tells_nothing(&answer, &what);
            assert_same(&before, &world.app.rows(), &what);
            tried.insert(operation.route.name);
        }
    }
    assert!(tried.contains("teams-team-read") && tried.contains("users-user-update"), "{tried:?}");
}

/// The keys and access tokens of one project are invalid in other projects.
#[tokio::test]
async fn credentials_only_work_for_their_own_project() {
    let (world, _) = Twins::of(World::with_twin().await).begin().await;
    let token = world.app.sign_up("ada@example.com").await.access_token;
    for operation in proving() {
        for ((level, header), prefix) in HEADERS.into_iter().zip(PREFIXES) {
            let mut request = world.request(&name(&operation));
            let headers = request.headers_mut();
            let value = |text: &str| text.parse::<HeaderValue>().unwrap();
            headers.remove("x-service-access-token");
            headers.insert("x-service-access-type", value(level));
            headers.insert("x-service-project-id", value(TWIN));
            headers.insert(header, value(&format!("{prefix}{KEY}")));
            let (before, what) = (world.app.rows(), format!("{} as {level}", operation.route.name));
            let wrong_key = Answer::read(world.app.answer(request).await).await;
            assert_eq!(wrong_key.status(), 401, "{what}: {}", wrong_key.text());
            let mut request = world.request(&name(&operation));
            request.headers_mut().insert("x-service-access-token", value(&token));
            let wrong_token = Answer::read(world.app.answer(request).await).await;
            assert_eq!(wrong_token.code(), "INVALID_PROJECT_FOR_ACCESS_TOKEN", "{what}");
            assert_eq!(before, world.app.rows(), "{what}");
        }
    }
}
