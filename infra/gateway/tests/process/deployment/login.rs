//! `gateway login` and `logout`.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};

use super::{as_user, file, json_of, login, run, serve, sessions, signs_in, user_of_internal};
use crate::support::{Folder, Gateway, fails, succeeds};

#[tokio::test]
async fn a_session_is_kept_in_a_private_file_until_it_is_ended() {
    let folder = Folder::new("login");
    let gateway = Gateway::start(&folder.data());
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    let unknown = fails(&run(&folder, &["user", "list"]));
    assert!(unknown.contains("not signed in, and .gatelet is not a gateway's data folder: run `gateway login URL`"), "{unknown}");
    assert!(fails(&run(&folder, &["logout"])).contains("not signed in"));

    let printed = signs_in(&gateway, &folder, &ada).await;
    assert!(printed.ends_with(&format!("signed in to {} as ada@example.com\n", gateway.url)), "{printed}");
    let mode = |path: &str| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file(&folder)), mode(&folder.path("config/gatelet"))), (0o600, 0o700));
    let saved: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file(&folder)).unwrap()).unwrap();
    let refresh_token = saved["logins"][0]["refresh_token"].as_str().unwrap().to_owned();
    assert!(!printed.contains(&refresh_token));
    assert_eq!(json_of(&folder, &["call", "GET", "/users/me"])["primary_email"], "ada@example.com");
    assert_eq!(sessions(&gateway, &ada).await, 2, "the command has a session of its own");

    // A second sign-in replaces the first session, both in the saved sessions and on the
    // deployment.
    signs_in(&gateway, &folder, &ada).await;
    assert_eq!(sessions(&gateway, &ada).await, 2);
    let headers =
        [("x-service-project-id", "internal"), ("x-service-access-type", "client"), ("x-service-refresh-token", refresh_token.as_str())];
    let old = gateway.send(Method::POST, "/api/v1/auth/sessions/current/refresh", &headers, None).await;
    assert_eq!(old.status(), 401);

    assert_eq!(succeeds(&run(&folder, &["logout"])), format!("signed out of {}\n", gateway.url));
    assert_eq!(sessions(&gateway, &ada).await, 1, "only that of the browser is left");
    assert!(fails(&run(&folder, &["call", "GET", "/users/me"])).contains("not signed in"));
}

#[tokio::test]
async fn a_refused_sign_in_leaves_nothing() {
    let folder = Folder::new("login-refused");
    let gateway = Gateway::start(&folder.data());
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    let (_, refused) = login(&gateway, &folder, "deny", &ada, "").await;
    assert!(fails(&refused).contains("the sign-in was refused"));
    assert!(!Path::new(&file(&folder)).exists());
    assert_eq!(sessions(&gateway, &ada).await, 1);
}

#[tokio::test]
async fn after_the_user_ended_the_session_commands_ask_to_sign_in_again() {
    let folder = Folder::new("login-ended");
    let gateway = Gateway::start(&folder.data());
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    signs_in(&gateway, &folder, &ada).await;
    as_user(&gateway, &ada, Method::DELETE, "/api/v1/auth/sessions").await;
    let ended = fails(&run(&folder, &["project", "list"]));
    assert!(ended.contains("has ended") && ended.contains(&format!("`gateway login {}`", gateway.url)), "{ended}");
    // The saved session is removed even though it has already ended.
    succeeds(&run(&folder, &["logout"]));
    assert!(fails(&run(&folder, &["call", "GET", "/users/me"])).contains("not signed in"));
}

#[tokio::test]
async fn a_session_is_not_forgotten_while_its_deployment_is_unreachable() {
    let folder = Folder::new("login-unreachable");
    let gateway = Gateway::start(&folder.data());
    let ada = user_of_internal(&gateway, "ada@example.com").await;
    signs_in(&gateway, &folder, &ada).await;
    let url = gateway.url.clone();
    drop(gateway);
    assert!(fails(&run(&folder, &["user", "list"])).contains(&format!("cannot reach {url}")));
    let kept = fails(&run(&folder, &["logout"]));
    assert!(kept.contains("could not be ended") && kept.contains("--forget") && kept.contains("cannot reach"), "{kept}");
    assert!(std::fs::read_to_string(file(&folder)).unwrap().contains(&url));
    succeeds(&run(&folder, &["logout", "--forget"]));
    assert!(!std::fs::read_to_string(file(&folder)).unwrap().contains(&url));
}

/// A server that responds to every request with `answer`.
fn answers(answer: &'static str) -> String {
    serve(move |_| answer.to_owned())
}

#[test]
fn a_url_without_gatelet_is_reported() {
    let folder = Folder::new("login-wrong");
    let page = answers("HTTP/1.1 404 Not Found\r\ncontent-length: 6\r\nconnection: close\r\n\r\n<html>");
    assert!(fails(&run(&folder, &["login", &page])).contains("does not seem to be Gatelet (status 404): check the URL"));
    let other = answers("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}");
    assert!(fails(&run(&folder, &["login", &other])).contains("does not seem to be Gatelet"));
    let moved = "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    assert!(fails(&run(&folder, &["login", &answers(moved)])).contains("redirect"));
    assert!(fails(&run(&folder, &["login", "http://127.0.0.1:1"])).contains("cannot reach http://127.0.0.1:1"));
    assert!(fails(&run(&folder, &["login", "auth.example.com"])).contains("must be an absolute http or https URL"));
    assert!(fails(&run(&folder, &["login", "http://auth.example.com"])).contains("must begin with https://"));
    assert!(!Path::new(&file(&folder)).exists());
}

#[test]
fn a_deployment_cannot_command_the_terminal() {
    let folder = Folder::new("login-hostile");
    let hostile = answers(
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 47\r\nconnection: close\r\n\r\n{\"error_description\":\"\\u001b[2Jno\\nsuch thing\"} ",
    );
    let said = fails(&run(&folder, &["login", &hostile]));
    assert!(said.contains("\\u{1b}[2Jno such thing") && !said.contains('\u{1b}'), "{said:?}");
}

#[tokio::test]
async fn a_deployment_without_a_page_says_what_its_operator_can_do() {
    let folder = Folder::new("login-page");
    let gateway = Gateway::start(&folder.data());
    let internal = async |config: Value| {
        let key = gateway.line("Internal admin");
        let headers =
            [("x-service-project-id", "internal"), ("x-service-access-type", "admin"), ("x-service-super-secret-admin-key", key.as_str())];
        let path = "/api/v1/internal/projects/current";
        let set = gateway.send(Method::PATCH, path, &headers, Some(json!({ "config": config }))).await;
        assert_eq!(set.status(), 200);
    };
    let line = first_line_of_login(&folder, &gateway);
    assert!(line.starts_with(&format!("Open {}/console/cli-auth-confirm?login_code=", gateway.url)), "{line}");
    // The console must also be on a trusted domain.
    internal(json!({ "allow_localhost": false })).await;
    let said = fails(&run(&folder, &["login", &gateway.url]));
    assert!(said.contains("no page for confirming the sign-in") && said.contains("--page"), "{said}");
    // A page outside the trusted domains could belong to anyone.
    let said = fails(&run(&folder, &["login", &gateway.url, "--page", "https://evil.example.com/device"]));
    assert!(said.contains("evil.example.com") || said.contains("trusted"), "{said}");
    internal(json!({ "domains": [{ "domain": "https://admin.example.com", "handler_path": "/handler" }] })).await;
    let line = first_line_of_login(&folder, &gateway);
    assert!(line.starts_with("Open https://admin.example.com/handler/cli-auth-confirm?login_code="), "{line}");
}

/// The link that `gateway login` has printed.
fn first_line_of_login(folder: &Folder, gateway: &Gateway) -> String {
    let mut child = super::command(folder, &["login", &gateway.url]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line
}

#[test]
fn a_damaged_file_of_sessions_is_named() {
    let folder = Folder::new("login-damaged");
    folder.write("config/gatelet/logins.json", "{\"logins\": [{\"refresh_token\": \"the-secret\"}");
    let said = fails(&run(&folder, &["user", "list"]));
    assert!(said.contains("logins.json is damaged") && !said.contains("the-secret"), "{said}");
}
