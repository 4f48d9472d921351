//! `gateway user create`, and sign-up for the project `internal`.

use std::process::{Command, Output, Stdio};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, run, succeeds};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const ANONYMOUS: &str = "/api/v1/auth/anonymous/sign-up";
const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const PASSWORD: &str = "correct horse battery";

fn account(email: &str, password: &str) -> Value {
    json!({ "email": email, "password": password })
}

/// Calls an operation of the project `internal` with client access.
async fn internal(gateway: &Gateway, path: &str, body: Value) -> (u16, Value) {
    gateway.client("internal", Method::POST, path, Some(body)).await
}

fn password(printed: &str) -> &str {
    printed.lines().find_map(|line| line.strip_prefix("password: ")).unwrap()
}

#[tokio::test]
async fn sign_up_at_internal_is_closed_until_the_operator_opens_it() {
    let folder = Folder::new("users-internal");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let refused = internal(&gateway, SIGN_UP, account("eve@example.com", PASSWORD)).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("SIGN_UP_NOT_ENABLED")));
    let code = json!({ "email": "eve@example.com", "callback_url": "http://localhost:3000/" });
    let refused = internal(&gateway, "/api/v1/auth/otp/send-sign-in-code", code).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("SIGN_UP_NOT_ENABLED")));
    let refused = internal(&gateway, ANONYMOUS, json!({})).await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("SIGN_UP_NOT_ENABLED")));

    // The first user is created while the gateway runs. The user gets a team, which may own
    // projects.
    let printed = succeeds(&run(&["user", "create", "Ada@Example.com", "--data", &data]));
    let (status, ada) = internal(&gateway, SIGN_IN, account("ada@example.com", password(&printed))).await;
    assert_eq!(status, 200, "{ada}");
    let headers = as_user(ada["access_token"].as_str().unwrap());
    let teams: Value = gateway.send(Method::GET, "/api/v1/teams?user_id=me", &headers, None).await.json().await.unwrap();
    let project = json!({ "display_name": "Notes", "owner_team_id": teams["items"][0]["id"] });
    assert_eq!(gateway.send(Method::POST, "/api/v1/internal/projects", &headers, Some(project)).await.status(), 201);

    succeeds(&run(&["project", "set", "internal", "config.sign_up_enabled=true", "--data", &data]));
    assert_eq!(internal(&gateway, SIGN_UP, account("bob@example.com", PASSWORD)).await.0, 200);
    // The project `internal` does not allow anonymous users, even while its sign-up is open.
    assert_eq!(internal(&gateway, ANONYMOUS, json!({})).await.1["code"], "SIGN_UP_NOT_ENABLED");
    drop(gateway);
    // The setting survives a restart.
    let again = Gateway::start(&data);
    assert_eq!(internal(&again, SIGN_UP, account("cleo@example.com", PASSWORD)).await.0, 200);
    // The operator can also open sign-up through the API, for example if the gateway keeps its data
    // in memory.
    let memory = Gateway::spawn(&mut crate::support::gateway(&["--memory", "--listen", "127.0.0.1:0"]));
    assert_eq!(internal(&memory, SIGN_UP, account("bob@example.com", PASSWORD)).await.0, 400);
    memory.open_internal().await;
    assert_eq!(internal(&memory, SIGN_UP, account("bob@example.com", PASSWORD)).await.0, 200);
}

fn as_user(token: &str) -> [(&str, &str); 3] {
    [("x-stack-project-id", "internal"), ("x-stack-access-type", "client"), ("x-stack-access-token", token)]
}

#[tokio::test]
async fn the_operator_adds_a_second_administrator_to_a_team() {
    let folder = Folder::new("users-second");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let command = |arguments: &[&str]| run(&[arguments, &["--data", &data]].concat());
    let signed_in = async |email: &str| {
        let printed = succeeds(&command(&["user", "create", email]));
        let (status, user) = internal(&gateway, SIGN_IN, account(email, password(&printed))).await;
        assert_eq!(status, 200, "{user}");
        user["access_token"].as_str().unwrap().to_owned()
    };
    let (ada, bob) = (signed_in("ada@example.com").await, signed_in("bob@example.com").await);
    let get = async |token: &str, path: &str| gateway.send(Method::GET, path, &as_user(token), None).await.json::<Value>().await.unwrap();
    let team = get(&ada, "/api/v1/teams?user_id=me").await["items"][0]["id"].as_str().unwrap().to_owned();
    let project = json!({ "display_name": "Notes", "owner_team_id": team });
    assert_eq!(gateway.send(Method::POST, "/api/v1/internal/projects", &as_user(&ada), Some(project)).await.status(), 201);
    let projects = async || get(&bob, "/api/v1/internal/projects").await["items"].as_array().unwrap().len();
    assert_eq!(projects().await, 0);

    let listed = succeeds(&command(&["team", "list"]));
    assert!(listed.lines().count() == 3 && listed.contains(&team), "{listed}");
    let found: Value = serde_json::from_str(&succeeds(&command(&["team", "list", "--query", "ADA", "--json"]))).unwrap();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["id"]), (1, &json!(team)));
    assert_eq!(succeeds(&command(&["team", "list", "--limit", "1"])).lines().count(), 2);
    succeeds(&command(&["team", "add", &team, "bob@example.com"]));
    assert_eq!(projects().await, 1);
    assert!(fails(&command(&["team", "add", &team, "bob@example.com"])).contains("is already a member of team"));
    assert!(fails(&command(&["team", "add", &team, "eve@example.com"])).contains("eve@example.com"));
    let missing = "00000000-0000-4000-8000-000000000000";
    assert!(fails(&command(&["team", "add", missing, "bob@example.com"])).contains("has no team"));
    succeeds(&command(&["team", "remove", &team, "bob@example.com"]));
    assert_eq!(projects().await, 0);
    assert!(fails(&command(&["team", "remove", &team, "bob@example.com"])).contains("is not a member"));
    let entries = succeeds(&command(&["audit", "export", "--project", "internal"]));
    for operation in ["gateway-team-add", "gateway-team-remove"] {
        assert!(entries.contains(operation), "{entries}");
    }
}

/// Creates a user with a password from standard input.
fn with_password(password: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "printf '%s\\n' \"$PASSWORD\" | \"$0\" user create --password-stdin \"$@\"", env!("CARGO_BIN_EXE_gateway")]);
    end_of(command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").env("PASSWORD", password).stdin(Stdio::null()))
}

#[tokio::test]
async fn a_user_of_any_project_can_be_created_with_a_given_password() {
    let folder = Folder::new("users-password");
    let data = folder.data();
    let gateway = Gateway::start(&data);
    let project = gateway.line("Project");
    let create = |email: &str, password: &str| with_password(password, &[email, "--project", &project, "--data", &data]);
    let printed = succeeds(&create("ada@example.com", PASSWORD));
    assert!(printed.contains("ada@example.com") && !printed.contains("password"), "{printed}");
    let signed_in = gateway.client(&project, Method::POST, SIGN_IN, Some(account("ada@example.com", PASSWORD))).await;
    assert_eq!(signed_in.0, 200, "{}", signed_in.1);

    assert!(fails(&create("ada@example.com", "another good password")).contains("ada@example.com"));
    for (weak, why) in [("", "fewer"), ("short", "fewer"), ("password123", "common"), ("bob@example.com", "address")] {
        let said = fails(&create("bob@example.com", weak));
        assert!(said.contains(why), "{weak}: {said}");
    }
    assert!(fails(&create("nobody", PASSWORD)).contains("\"nobody\""));
    let missing = "00000000-0000-4000-8000-000000000000";
    assert!(fails(&run(&["user", "create", "bob@example.com", "--project", missing, "--data", &data])).contains("does not exist"));
    succeeds(&run(&["project", "set", &project, "config.credential_enabled=false", "config.magic_link_enabled=true", "--data", &data]));
    assert!(fails(&create("bob@example.com", PASSWORD)).contains("credential_enabled"));
}

#[tokio::test]
async fn the_first_user_of_a_table_can_be_created_by_command() {
    let mut deployment = gateway(&["--memory", "--listen", "127.0.0.1:0", "--dynamodb-port", "0"]);
    let deployment = Gateway::spawn(&mut deployment);
    let mut command = gateway(&["user", "create", "ada@example.com", "--table", "gatelet"]);
    let printed = succeeds(&end_of(command.envs(deployment.table_variables()).env("GATELET_SECRET", "a secret of this test, long enough")));
    assert_eq!(internal(&deployment, SIGN_IN, account("ada@example.com", password(&printed))).await.0, 200);
}
