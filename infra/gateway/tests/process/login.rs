//! `gateway login`, `call` and `logout`.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, end_of, fails, gateway, succeeds};

/// A command with this folder for its configuration.
fn command(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = gateway(arguments);
    command.env("XDG_CONFIG_HOME", folder.path("config"));
    command
}

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    end_of(&mut command(folder, arguments))
}

/// Runs `gateway login` until it ends; the user answers with this mode.
async fn login(gateway: &Gateway, folder: &Folder, mode: &str, refresh_token: &str) -> Output {
    let arguments = ["login", "--api", &gateway.url, "--page", "http://localhost:3000/device"];
    let mut child = command(folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let opened = lines.next().unwrap().unwrap();
    let shown = lines.next().unwrap().unwrap();
    let code = shown.strip_suffix('.').and_then(|line| line.rsplit(' ').next()).unwrap_or_else(|| panic!("{shown}"));
    assert!(opened.starts_with("Open http://localhost:3000/device?login_code="), "{opened}");
    let body = json!({ "login_code": code, "mode": mode, "refresh_token": refresh_token });
    let (status, answer) = gateway.client("internal", Method::POST, "/api/v1/auth/cli/complete", Some(body)).await;
    assert_eq!(status, 200, "{answer}");
    tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap()
}

async fn owner(gateway: &Gateway) -> Value {
    gateway.open_internal().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let (status, ada) = gateway.client("internal", Method::POST, "/api/v1/auth/password/sign-up", Some(body)).await;
    assert_eq!(status, 200, "{ada}");
    ada
}

#[tokio::test]
async fn a_user_of_internal_signs_in_administers_and_signs_out() {
    let folder = Folder::new("login");
    let gateway = Gateway::start(&folder.data());
    let ada = owner(&gateway).await;
    let signed_in = login(&gateway, &folder, "complete", ada["refresh_token"].as_str().unwrap()).await;
    assert!(signed_in.status.success(), "{signed_in:?}");
    let file = folder.path("config/gatelet/login.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::metadata(folder.path("config/gatelet")).unwrap().permissions().mode() & 0o777, 0o700);

    let me: Value = serde_json::from_str(&succeeds(&run(&folder, &["call", "GET", "/users/me"]))).unwrap();
    assert_eq!(me["primary_email"], "ada@example.com");
    let team = me["selected_team_id"].as_str().unwrap();
    let project = json!({ "display_name": "Notes", "owner_team_id": team }).to_string();
    let made = succeeds(&run(&folder, &["call", "post", "/internal/projects", "--data", &project]));
    let made: Value = serde_json::from_str(&made).unwrap();
    let users = succeeds(&run(&folder, &["call", "GET", "/users", "--project", made["id"].as_str().unwrap()]));
    assert_eq!(serde_json::from_str::<Value>(&users).unwrap()["items"], json!([]));
    let foreign = gateway.line("Project");
    assert!(fails(&run(&folder, &["call", "GET", "/users", "--project", &foreign])).contains("401"));

    succeeds(&run(&folder, &["logout"]));
    assert!(!Path::new(&file).exists());
    assert!(fails(&run(&folder, &["call", "GET", "/users/me"])).contains("not signed in"));
    let headers = [
        ("x-stack-project-id", "internal"),
        ("x-stack-access-type", "client"),
        ("x-stack-access-token", ada["access_token"].as_str().unwrap()),
    ];
    let sessions: Value = gateway.send(Method::GET, "/api/v1/auth/sessions", &headers, None).await.json().await.unwrap();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "only that of the browser is left");
}

#[tokio::test]
async fn a_refused_sign_in_leaves_nothing() {
    let folder = Folder::new("login-refused");
    let gateway = Gateway::start(&folder.data());
    let ada = owner(&gateway).await;
    let refused = login(&gateway, &folder, "deny", ada["refresh_token"].as_str().unwrap()).await;
    assert!(fails(&refused).contains("refused"));
    assert!(!Path::new(&folder.path("config/gatelet/login.json")).exists());
}

#[test]
fn tokens_are_not_sent_without_tls_to_other_machines() {
    let folder = Folder::new("login-plain");
    for api in ["http://auth.example.com", "http://localhost.example.com", "ftp://localhost", "nonsense"] {
        fails(&run(&folder, &["login", "--api", api]));
    }
}
